/** Locks of <a href="https://spring.io/projects/spring-integration">Spring Integration</a> in the stores of Latchkey. */
@NullMarked
package dev.latchkey.spring.integration;

import org.jspecify.annotations.NullMarked;
