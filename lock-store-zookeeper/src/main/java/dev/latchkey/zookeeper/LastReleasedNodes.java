package dev.latchkey.zookeeper;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * For each queue, the last node of this session that was first in it and has been deleted. The servers number all nodes that
 * are created in a queue, so a node that gets the next number is first, and the queue need not be read.
 *
 * <p>That would be wrong if the servers had removed the queue in between, and others had created as many nodes in a new one.
 * Each of those would take a transaction, and the numbers of the transactions rule that out. Thread-safe.
 */
final class LastReleasedNodes {

    private static final int LINES = 1_000;

    /**
     * The last node.
     *
     * @param isLikelyNext whether the last node that was created after another had the next number: the next may, too
     */
    private record Step(int number, long zxid, boolean isLikelyNext) {}

    private final Map<String, Step> steps = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Step> eldest) {
            return size() > LINES;
        }
    };

    synchronized void gone(String parent, int number, long zxid) {
        Step before = steps.get(parent);
        steps.put(parent, new Step(number, zxid, before != null && before.isLikelyNext()));
    }

    /** Returns whether it is worth creating a node before the queue is read. */
    synchronized boolean isLikelyNext(String parent) {
        Step step = steps.get(parent);
        return step != null && step.isLikelyNext();
    }

    /**
     * Returns the number of the next node if no other comes in between; -1 if nothing is known. Call it before the node is
     * created: a node that existed when the last one was deleted is first too, but the last may have had a greater token.
     */
    synchronized int next(String parent) {
        Step step = steps.get(parent);
        return step == null ? -1 : step.number() + 1;
    }

    /**
     * Returns whether it is known that no node is before a new one.
     *
     * @param number the number of the node
     * @param zxid the number of the transaction that created it
     */
    synchronized boolean leadsTo(String parent, int number, long zxid) {
        Step step = steps.get(parent);
        if (step == null) {
            return false;
        }
        boolean isNext = number == step.number() + 1 && zxid - step.zxid() <= number + 1L;
        if (isNext != step.isLikelyNext()) {
            steps.put(parent, new Step(step.number(), step.zxid(), isNext));
        }
        return isNext;
    }
}
