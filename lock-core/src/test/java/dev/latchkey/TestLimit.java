package dev.latchkey;

import java.time.Duration;

/** How long the core's tests wait for what has to happen: they know nothing of the testkit, whose limits grow with the load. */
public final class TestLimit {

    /** Far longer than anything takes here, on any machine. */
    public static final Duration LIMIT = Duration.ofMinutes(5);

    private TestLimit() {}
}
