package dev.latchkey;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Static checkers know this annotation by its simple name: the result must not be ignored. */
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
@interface CheckReturnValue {}
