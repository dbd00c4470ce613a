package dev.latchkey.sticky;

import dev.latchkey.spi.Response;

/** What has to be done for a call, as its line says. */
sealed interface NextStep {

    /** Nothing: it holds, or held. */
    record Holds(Response.Granted answer) implements NextStep {}

    /** Nothing: another Lock of this process holds, waits, or asks. */
    record Refused() implements NextStep {
        static final Refused REFUSED = new Refused();
    }

    /** Nothing: the Lock does not hold what it claims. */
    record Gone() implements NextStep {
        static final Gone GONE = new Gone();
    }

    /** The store is to be asked for a hold; one that can be kept, if there is a use for it. The line is busy until it answers. */
    record Ask(boolean isSticky) implements NextStep {}

    /** What is kept is to be renewed. The line is busy until that is answered. */
    record Renew(KeptHold kept) implements NextStep {}

    /** What a Lock shares is to be promoted. Nobody begins to hold, and nothing is kept, until that is answered. */
    record Promote(LocalHold hold) implements NextStep {}

    /** What is not kept any more is to be released. The line is busy until that is answered. */
    record Release(KeptHold kept) implements NextStep {}

    /** What was not kept is to be released. */
    record ReleaseUnkept(KeptHold ended) implements NextStep {}
}
