package dev.latchkey.benchmarks;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;

/** Cycles of Latchkey, the same on every store. */
final class Ours {

    static final Duration TTL = Duration.ofSeconds(30);
    static final Duration KEPT = Duration.ofSeconds(5);

    private Ours() {}

    static Contender.Client exclusive(LockFactory locks) {
        return resource -> exclusive(locks.createLock(resource, TTL));
    }

    static Contender.Client shared(LockFactory locks) {
        return resource -> shared(locks.createLock(resource, TTL));
    }

    static Cycle shared(Lock lock) {
        return new Cycle() {
            @Override
            public void take() throws InterruptedException {
                lock.acquireShared();
            }

            @Override
            public boolean giveUp() {
                return lock.release();
            }
        };
    }

    /** Kept by its process until another asks. */
    static Contender.Client sticky(LockFactory locks) {
        return resource -> exclusive(locks.lock(resource).ttl(TTL).sticky(KEPT).create());
    }

    /** As most programs do: made where it is needed, and never used again. */
    static Contender.Client newEachTime(LockFactory locks) {
        return resource -> new Cycle() {
            private Lock lock = locks.createLock(resource, TTL);

            @Override
            public void take() throws InterruptedException {
                lock = locks.createLock(resource, TTL).acquire();
            }

            @Override
            public boolean giveUp() {
                return lock.release();
            }
        };
    }

    static Cycle exclusive(Lock lock) {
        return new Cycle() {
            @Override
            public void take() throws InterruptedException {
                lock.acquire();
            }

            @Override
            public boolean giveUp() {
                return lock.release();
            }
        };
    }
}
