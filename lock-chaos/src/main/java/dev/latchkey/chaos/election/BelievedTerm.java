package dev.latchkey.chaos.election;

/**
 * One term, as its leader believed in it: certainly from the first moment to the last one, on the clock of the machine.
 *
 * @param who the process
 * @param number of the term
 * @param since when it looked first
 * @param until when it looked last, and still believed
 */
record BelievedTerm(String who, long number, long since, long until) {

    @Override
    public String toString() {
        return "%s in term %d, for %.3f s".formatted(who, number, (until - since) / 1e9);
    }
}
