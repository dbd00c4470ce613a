package dev.latchkey.combined;

import dev.latchkey.spi.Request;

/**
 * The saves of one hold, by number: which of them were under way at the same time, and so may have come to a member in any
 * order. Guarded by the hold.
 */
final class SaveHistory {

    private int begun;
    private int underWay;
    private int demotions;

    /** The last that had begun when a demotion ended. */
    private int lastBesideDemotion = -1;

    int begin(Request request) {
        underWay++;
        if (request.isDemotion()) {
            demotionBegins();
        }
        return ++begun;
    }

    void end(Request request) {
        underWay--;
        if (request.isDemotion()) {
            demotionEnds();
        }
    }

    /** Members are asked to demote, by a save or by what undoes one. */
    void demotionBegins() {
        demotions++;
    }

    /** What begins from now on comes to members after it. */
    void demotionEnds() {
        demotions--;
        lastBesideDemotion = begun;
    }

    /** Whether no save has begun since. */
    boolean isLast(int save) {
        return save == begun;
    }

    /** Whether a demotion was under way at the same time: it may have come to members after this. */
    boolean wasBesideDemotion(int save) {
        return demotions > 0 || save <= lastBesideDemotion;
    }

    /** How many saves there were; less than zero while one is under way. */
    int countIfQuiet() {
        return underWay == 0 ? begun : -1;
    }
}
