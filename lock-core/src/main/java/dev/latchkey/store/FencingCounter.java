package dev.latchkey.store;

/** The last fencing token of a stripe; guarded by it. */
final class FencingCounter {

    private long last;

    long next() {
        return ++last;
    }

    /** No token up to this one is granted again. */
    void raiseTo(long token) {
        last = Math.max(last, token);
    }
}
