/** Tests of applications of Spring Boot, with real stores and processes. */
@NullMarked
package dev.latchkey.spring.elsewhere;

import org.jspecify.annotations.NullMarked;
