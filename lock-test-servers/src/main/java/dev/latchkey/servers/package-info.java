/** Starts the servers that the tests of this repository need: in Docker, from a program of this machine, or from an artifact. */
@NullMarked
package dev.latchkey.servers;

import org.jspecify.annotations.NullMarked;
