package dev.latchkey.memcached;

/**
 * When a hold ends at the latest that can be promised, for those who look it up. Nothing is decided by it.
 *
 * @param run which run of which server counts; another run's seconds mean nothing
 * @param second by that server's clock
 */
record LeaseEnd(String run, long second) {

    static final LeaseEnd UNKNOWN = new LeaseEnd("-", 0);

    static LeaseEnd read(String text) {
        int at = text.indexOf('@');
        return new LeaseEnd(text.substring(at + 1), Long.parseLong(text.substring(0, at)));
    }

    String written() {
        return second + "@" + run;
    }
}
