package dev.latchkey.zookeeper;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The last node of this session in each line that nobody was before, and that has gone. The servers number all that is made
 * in a line. So whoever gets the next number after it has nobody before itself, and need not look.
 *
 * <p>Unless the servers have removed the line in between, and others have made it anew and as many nodes in it. That would
 * take a transaction for each, and the numbers of the transactions show that there were not so many. Thread-safe.
 */
final class LastReleasedNodes {

    private static final int LINES = 1_000;

    /**
     * The last node.
     *
     * @param isTrodden the last one that was made after another had the next number: the next one may have it too
     */
    private record Step(int number, long zxid, boolean isTrodden) {}

    private final Map<String, Step> steps = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Step> eldest) {
            return size() > LINES;
        }
    };

    synchronized void gone(String parent, int number, long zxid) {
        Step before = steps.get(parent);
        steps.put(parent, new Step(number, zxid, before != null && before.isTrodden()));
    }

    /** Whether it is worth while to make a node before looking. */
    synchronized boolean isTrodden(String parent) {
        Step step = steps.get(parent);
        return step != null && step.isTrodden();
    }

    /**
     * The number of the next node if nobody comes in between; -1 if nothing is known. To be asked before that is made: one
     * that was there when the last went has nobody before it either, but the last may have had a greater token by then.
     */
    synchronized int next(String parent) {
        Step step = steps.get(parent);
        return step == null ? -1 : step.number() + 1;
    }

    /**
     * Whether it is known that nobody is before a new node.
     *
     * @param number of the node
     * @param zxid of the transaction that made it
     */
    synchronized boolean leadsTo(String parent, int number, long zxid) {
        Step step = steps.get(parent);
        if (step == null) {
            return false;
        }
        boolean isNext = number == step.number() + 1 && zxid - step.zxid() <= number + 1L;
        if (isNext != step.isTrodden()) {
            steps.put(parent, new Step(step.number(), step.zxid(), isNext));
        }
        return isNext;
    }
}
