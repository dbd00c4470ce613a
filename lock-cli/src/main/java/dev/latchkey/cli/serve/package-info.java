/** The server of {@code lock serve}: requests are read, judged and answered, and events sent to browsers that listen. */
@NullMarked
package dev.latchkey.cli.serve;

import org.jspecify.annotations.NullMarked;
