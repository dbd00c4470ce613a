package dev.latchkey.testkit;

import dev.latchkey.spi.ForceReleaseStore;
import java.util.concurrent.CyclicBarrier;

/** An operator that ends a hold by force, again and again, each time at the moment at which somebody else does something. */
final class ForceRace {

    private final CyclicBarrier barrier = new CyclicBarrier(2);
    private final BackgroundCall<Integer> operator;
    private volatile long token;

    /** Starts the operator, which waits for the first of this many rounds. */
    ForceRace(Fixture fixture, int rounds) {
        ForceReleaseStore store = fixture.store(ForceReleaseStore.class);
        operator = fixture.start(() -> {
            int forced = 0;
            for (int i = 0; i < rounds; i++) {
                barrier.await();
                forced += store.forceRelease(fixture.resource(), token) ? 1 : 0;
                barrier.await();
            }
            return forced;
        });
    }

    /** Returns when the operator begins to end the hold with this token. */
    void begin(long fencingToken) throws Exception {
        token = fencingToken;
        int unused = barrier.await();
    }

    /** Returns when the operator has ended the hold, or has found that somebody else did. */
    void end() throws Exception {
        int unused = barrier.await();
    }

    /** Returns how many holds the operator has ended. */
    int forced() throws Exception {
        return operator.result();
    }
}
