package dev.latchkey.chaos;

/**
 * A fault that is to strike.
 *
 * @param atMillis when, from the beginning of the trial on; later if the one before it is not over
 * @param kind what
 * @param place whose process or network; {@link #EVERYWHERE} for the networks of all
 * @param server which of the servers, counted from zero
 * @param millis how long it lasts, if it lasts
 * @param delayMillis how late messages are, if they are late
 */
record Fault(long atMillis, FaultKind kind, int place, int server, int millis, int delayMillis) {

    static final int EVERYWHERE = -1;

    @Override
    public String toString() {
        String where = place == EVERYWHERE ? "all" : "w" + place;
        return "%7.3f s  %s at %s and server %d, %d ms".formatted(atMillis / 1e3, kind, where, server, millis);
    }
}
