package dev.latchkey.chaos;

/** What is planted into a sound store, to see whether the judge finds it. Each strikes seldom: about one call of its kind in 500. */
enum Defect {
    /** A lock that somebody else holds is granted, with the token of the hold before: check and write are two steps. */
    GRANTS_TWICE(Rule.EXCLUSION),
    /** The fencing token of an earlier hold comes again. */
    REPEATS_TOKEN(Rule.TOKENS),
    /** The holder believes in its lease 200 ms longer than the store keeps it. */
    BELIEVES_LONGER(Rule.EXCLUSION),
    /** The holder is told that a refresh succeeded of which the store knows nothing. */
    CONFIRMS_UNSENT_REFRESH(Rule.EXCLUSION),
    /** What was released is held again by nobody. */
    HOLDS_AGAIN_AFTER_RELEASE(Rule.HANDOFF),
    /** What was over is held again by nobody. */
    REVIVES_EXPIRED(Rule.HANDOFF),
    /** A waiter that was granted the lock is not told until it looks again. */
    TELLS_LATE(Rule.HANDOFF),
    /** A release is not sent, and said to have succeeded. */
    DROPS_RELEASE(Rule.HANDOFF),
    /** A release that succeeded is said not to have found the hold. */
    DENIES_RELEASE(Rule.REASONS),
    /** A refresh says that the hold is lost, and it is not. */
    LOSES_FOR_NOTHING(Rule.REASONS),
    /** A request fails without a fault. */
    FAILS_FOR_NOTHING(Rule.REASONS),
    /** Who came last is served first. */
    SERVES_NEWEST_FIRST(Rule.ORDER);

    private final Rule rule;

    Defect(Rule rule) {
        this.rule = rule;
    }

    /** The rule that has to be refuted by it. */
    Rule rule() {
        return rule;
    }
}
