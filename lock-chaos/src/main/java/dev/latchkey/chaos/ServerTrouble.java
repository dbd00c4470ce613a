package dev.latchkey.chaos;

/** What can be done to the servers of one backing only. Called by one thread, {@link #heal} after each {@link #strike}. */
interface ServerTrouble {

    void strike();

    /** Makes all as it was before. */
    void heal();
}
