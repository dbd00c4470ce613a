package dev.latchkey.zookeeper;

/** What a look at the line means for one who stands in it. */
sealed interface QueuePosition {

    /** Nobody before it keeps it from holding. */
    record Free() implements QueuePosition {}

    /**
     * It waits.
     *
     * @param obstacle the node whose end or change is worth another look
     */
    record Behind(NodeName obstacle) implements QueuePosition {}

    /** A promoter that came later goes first, and waits for this node: it has to stand behind it. */
    record StepBack() implements QueuePosition {}

    /** Another one waits to promote already: each would wait for the other. */
    record Refused() implements QueuePosition {}

    /** Its own node is not there. */
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
