/** Locked methods of Spring beans, over the store that the application already has. */
@NullMarked
package dev.latchkey.spring;

import org.jspecify.annotations.NullMarked;
