package dev.latchkey.zookeeper;

/** What a look at the line means for one who stands in it. */
sealed interface Verdict {

    /** Nobody before it keeps it from holding. */
    record Free() implements Verdict {}

    /**
     * It waits.
     *
     * @param obstacle the node whose end or change is worth another look
     */
    record Behind(Entry obstacle) implements Verdict {}

    /** A promoter that came later goes first, and waits for this node: it has to stand behind it. */
    record StepBack() implements Verdict {}

    /** Another one waits to promote already: each would wait for the other. */
    record Refused() implements Verdict {}

    /** Its own node is not there. */
    record Gone() implements Verdict {}

    /** See {@link Free}. */
    Verdict FREE = new Free();

    /** See {@link StepBack}. */
    Verdict STEP_BACK = new StepBack();

    /** See {@link Refused}. */
    Verdict REFUSED = new Refused();

    /** See {@link Gone}. */
    Verdict GONE = new Gone();
}
