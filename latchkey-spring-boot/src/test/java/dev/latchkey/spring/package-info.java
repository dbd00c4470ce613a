/** Tests of applications of Spring Boot, with real stores and processes. */
@NullMarked
package dev.latchkey.spring;

import org.jspecify.annotations.NullMarked;
