package dev.latchkey.leader;

/** What a process does while it leads. */
@FunctionalInterface
public interface Leader {

    /**
     * Leads for one term, on a thread of its own, which is interrupted when the term ends. Return then, within the stop time
     * of the election. A return or an exception before the end of the term resigns.
     *
     * @param term says how long to lead, and its number
     * @throws Exception if it cannot lead; the election logs it, resigns, and stands again after a pause
     */
    void lead(Term term) throws Exception;
}
