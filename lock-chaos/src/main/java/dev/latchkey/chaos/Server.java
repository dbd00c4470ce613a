package dev.latchkey.chaos;

import dev.latchkey.testkit.ServerAddress;

/**
 * A server of a backing, and what can be done to it.
 *
 * @param address where it listens
 * @param kill SIGKILL
 * @param restart after that, with its data
 * @param restartEmpty after that, without
 * @param freeze SIGSTOP
 * @param thaw SIGCONT
 * @param end stops it, and deletes its files
 */
record Server(
        ServerAddress address,
        Runnable kill,
        Runnable restart,
        Runnable restartEmpty,
        Runnable freeze,
        Runnable thaw,
        Runnable end)
        implements AutoCloseable {

    @Override
    public void close() {
        end.run();
    }
}
