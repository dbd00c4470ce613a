package dev.latchkey.memcached;

import net.spy.memcached.MemcachedClient;

/** The client to ask with, and whether it has a connection. Thread-safe. */
interface ClientAccess {

    /** A connection that is there. */
    long CONNECTED = -1;

    /**
     * Returns the client, which may be another one after the connection was lost.
     *
     * @param resource who is asked for, for a failure
     * @throws dev.latchkey.LockStorageException if there is none
     */
    MemcachedClient client(String resource);

    /**
     * Tells since which of its connections there is none: if that is the same before an operation and after it was given
     * up, the operation was not sent.
     *
     * @return {@link #CONNECTED} also where that cannot be told
     */
    long outage();

    /** Notes that a call was answered. */
    default void answered() {}

    /** Notes that a call was not answered in time. A client that goes on like that is replaced, if it is the store's. */
    default void unanswered() {}

    /** Ends the client, if that is the store's. */
    void close();

    /** Over a client of the application, which knows its servers itself. */
    static ClientAccess of(MemcachedClient client) {
        return new ClientAccess() {
            @Override
            public MemcachedClient client(String resource) {
                return client;
            }

            @Override
            public long outage() {
                return CONNECTED;
            }

            @Override
            public void close() {}
        };
    }
}
