/** Locks in tests of an application. */
@NullMarked
package dev.latchkey.spring.test;

import org.jspecify.annotations.NullMarked;
