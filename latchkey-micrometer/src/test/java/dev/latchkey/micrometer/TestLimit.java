package dev.latchkey.micrometer;

import java.time.Duration;

/** How long these tests wait for what has to happen: they know nothing of the testkit, whose limits grow with the load. */
final class TestLimit {

    /** Far longer than anything takes here, on any machine. */
    static final Duration LIMIT = Duration.ofMinutes(5);

    private TestLimit() {}
}
