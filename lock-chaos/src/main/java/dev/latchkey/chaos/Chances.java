package dev.latchkey.chaos;

/** Of so many one; the first is a percentage. */
record Chances(
        int percentShared,
        int lingers,
        int renewed,
        int renewedLingering,
        int changes,
        int transfers,
        int forgotten,
        int reconnects,
        int sticky) {

    static final int NEVER = Integer.MAX_VALUE;

    /** The same, with one lock of so many sticky. */
    Chances withSticky(int one) {
        return new Chances(
                percentShared, lingers, renewed, renewedLingering, changes, transfers, forgotten, reconnects, one);
    }
}
