package dev.latchkey.chaos;

/** What is planted into a sound store, to see whether the judge finds it. Each strikes about one hold in 500. */
enum Defect {
    /** A lock that somebody else holds is granted, with the token of the hold before: check and write are two steps. */
    GRANTS_TWICE(500, Rule.EXCLUSION),
    /** The fencing token of an earlier hold comes again. */
    REPEATS_TOKEN(500, Rule.TOKENS),
    /** The holder believes in its lease 200 ms longer than the store keeps it. */
    BELIEVES_LONGER(500, Rule.EXCLUSION),
    /** The holder is told that a refresh succeeded of which the store knows nothing. */
    CONFIRMS_UNSENT_REFRESH(250, Rule.EXCLUSION),
    /** What was released is held again by nobody. */
    HOLDS_AGAIN_AFTER_RELEASE(500, Rule.HANDOFF),
    /** What was over is held again by nobody. */
    REVIVES_EXPIRED(80, Rule.HANDOFF),
    /** A waiter that was granted the lock is not told until it looks again. */
    TELLS_LATE(500, Rule.HANDOFF),
    /** A release is not sent, and said to have succeeded. */
    DROPS_RELEASE(500, Rule.HANDOFF),
    /** A release that succeeded is said not to have found the hold. */
    DENIES_RELEASE(500, Rule.REASONS),
    /** A refresh says that the hold is lost, and it is not. */
    LOSES_FOR_NOTHING(250, Rule.REASONS),
    /** A request fails without a fault. */
    FAILS_FOR_NOTHING(500, Rule.REASONS),
    /** Who came last is served first. */
    SERVES_NEWEST_FIRST(250, Rule.ORDER);

    private final int oneOf;
    private final Rule rule;

    Defect(int oneOf, Rule rule) {
        this.oneOf = oneOf;
        this.rule = rule;
    }

    /** Of so many occasions it strikes at one: fewer where not every hold is an occasion. */
    int oneOf() {
        return oneOf;
    }

    /** The rule that has to be refuted by it. */
    Rule rule() {
        return rule;
    }
}
