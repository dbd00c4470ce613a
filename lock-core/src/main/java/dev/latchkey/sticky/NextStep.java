package dev.latchkey.sticky;

import dev.latchkey.spi.Response;

/** What has to be done for a call, as its line says. But for the first two, the line is busy until that is done. */
sealed interface NextStep {

    /** Nothing: it holds. */
    record Holds(Response.Granted answer) implements NextStep {}

    /** Nothing: another Lock of this process holds, waits, or asks. */
    record Refused() implements NextStep {
        static final Refused REFUSED = new Refused();
    }

    /** The store is to be asked for a hold; one that can be kept, if there is a use for it. */
    record Ask(boolean isSticky) implements NextStep {}

    /** What is kept is to be renewed. */
    record Renew(KeptHold kept) implements NextStep {}

    /** What is kept is to be released. */
    record Release(KeptHold kept) implements NextStep {}
}
