package dev.latchkey.testkit;

/** A server of a test's own, to be killed, frozen and started again. */
public interface OwnServer extends AutoCloseable {

    /**
     * Returns where it listens.
     *
     * @return the same throughout its life
     */
    ServerAddress address();

    /**
     * Returns what a store connects to.
     *
     * @return for {@link dev.latchkey.LockFactory#connect(String)}
     */
    String dsn();

    /** Ends it with SIGKILL: connections break, and what is not on disk is gone. */
    void kill();

    /** Starts it again at the same address after {@link #kill()}, with the data it has on disk. */
    void restart();

    /** Starts it again at the same address after {@link #kill()}, without data. */
    void restartEmpty();

    /** Freezes it with SIGSTOP: connections stay open, and nothing is answered. */
    void freeze();

    /** Lets it go on, with SIGCONT. */
    void thaw();

    /** Ends it, and deletes its files. */
    @Override
    void close();
}
