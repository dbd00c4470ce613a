package dev.latchkey.chaos.election;

/** How a candidate decides whether it leads. */
enum CandidateKind {
    /** As the library says. */
    ELECTED,
    /** A planted defect: {@link NaiveCandidate}. */
    NAIVE
}
