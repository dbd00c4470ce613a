package dev.latchkey.chaos;

/** Looks past the store at what happens on a server, and writes down what must not happen, until it is closed. */
interface ServerObserver extends AutoCloseable {

    /** Ends, and writes down how often it has looked. */
    @Override
    void close();
}
