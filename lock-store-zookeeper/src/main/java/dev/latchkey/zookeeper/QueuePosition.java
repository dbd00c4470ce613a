package dev.latchkey.zookeeper;

/** What the queue means for one node in it. */
sealed interface QueuePosition {

    /** It may hold. */
    record Free() implements QueuePosition {}

    /**
     * It waits.
     *
     * @param obstacle the node after whose deletion or change the queue is to be read again
     */
    record Behind(NodeName obstacle) implements QueuePosition {}

    /** A promoter that came later goes first, and waits for this node: this node has to join again behind it. */
    record StepBack() implements QueuePosition {}

    /** Another holder already waits to promote: each would wait for the other. */
    record Refused() implements QueuePosition {}

    /** Its own node is missing. */
    record Gone() implements QueuePosition {}

    /** See {@link Free}. */
    QueuePosition FREE = new Free();

    /** See {@link StepBack}. */
    QueuePosition STEP_BACK = new StepBack();

    /** See {@link Refused}. */
    QueuePosition REFUSED = new Refused();

    /** See {@link Gone}. */
    QueuePosition GONE = new Gone();
}
