/** Text for terminals and for programs: what is foreign is made safe, and secrets are hidden. */
@NullMarked
package dev.latchkey.cli.text;

import org.jspecify.annotations.NullMarked;
