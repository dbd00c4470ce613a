package dev.latchkey.redis;

/** Who the messages of an inbox are for. Called by threads of the driver: must not wait. */
interface MessageHandler {

    void message(String text);

    /** Messages may have been missed: whoever waits had better ask. */
    void missed();

    /** The other end may be another server now, with another clock. */
    void disconnected();
}
