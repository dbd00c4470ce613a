@NullMarked
package dev.latchkey.cli;

import org.jspecify.annotations.NullMarked;
