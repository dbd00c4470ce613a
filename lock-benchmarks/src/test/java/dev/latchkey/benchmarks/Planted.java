package dev.latchkey.benchmarks;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** A contest with a lock that locks nothing, and one that lets nobody in a second time. */
final class Planted implements Contest {

    private static final List<Contender> ALL = List.of(
            Contender.latchkey(nowhere -> {
                ReentrantLock lock = new ReentrantLock(true);
                return resource -> Cycle.of(lock);
            }),
            Contender.peer(
                    "open",
                    "everything",
                    nowhere -> resource -> new Cycle() {
                        @Override
                        public void take() {
                            LockSupport.parkNanos(1);
                        }

                        @Override
                        public boolean giveUp() {
                            return true;
                        }
                    }),
            Contender.peer(
                    "stuck",
                    "a second time",
                    nowhere -> resource -> new Cycle() {
                        @Override
                        public void take() throws InterruptedException {
                            new CountDownLatch(1).await();
                        }

                        @Override
                        public boolean giveUp() {
                            return true;
                        }
                    }));

    @Override
    public String store() {
        return "planted";
    }

    @Override
    public List<Table> tables() {
        return List.of(Table.threads(Placement.ALL_PROCESSORS, ALL));
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    @Override
    public Servers start() {
        return Servers.none("", () -> {});
    }

    @Override
    public List<String> libraries() {
        return List.of();
    }
}
