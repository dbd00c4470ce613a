package dev.latchkey.jdbc;

/** The statements of sticky holds, for a database that can tell a store that others ask for what it keeps. */
interface StickyDialect {

    /** As {@link Dialect#acquire}, for a key that holds nothing; answers with the fencing token in use. */
    String acquire();

    /** Renews a sticky hold under one of the fencing tokens that its holder may use. */
    String renew();

    /**
     * Releases a sticky hold, and takes back the fencing tokens that were not used.
     *
     * @param ordinary the release of an ordinary hold
     */
    String release(String ordinary);

    /** As {@link Dialect#read}, and recalls the sticky holds that keep a request from being granted. */
    String read();

    /** Sends one message to all who listen. */
    String announce();
}
