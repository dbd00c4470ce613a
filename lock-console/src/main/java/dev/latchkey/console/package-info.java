/** The page that shows what is held in a store, and what it asks for; and text that is safe for people and programs. */
@NullMarked
package dev.latchkey.console;

import org.jspecify.annotations.NullMarked;
