package dev.latchkey.benchmarks;

import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * Cycles of ShedLock, the same with every provider. Its time is that of its own clock, which counts milliseconds: an unlock
 * would wait for the end of the millisecond after any other.
 */
final class ShedLock {

    static final String TITLE = "ShedLock";
    static final String WITHOUT =
            "waiting (asks every 5 ms), fencing token, owner check at release; its client's clock decides";

    private ShedLock() {}

    static Contender.Client cycles(LockProvider provider) {
        return resource -> new Cycle() {
            private Optional<SimpleLock> lock = Optional.empty();

            @Override
            public void take() throws Exception {
                Cycle.poll(() -> {
                    lock = provider.lock(new LockConfiguration(ClockProvider.now(), resource, Ours.TTL, Duration.ZERO));
                    return lock.isPresent();
                });
            }

            @Override
            public boolean giveUp() {
                lock.orElseThrow().unlock();
                return true;
            }
        };
    }
}
