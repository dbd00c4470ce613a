package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** The in-memory store against the locks of the JDK. */
final class InMemory implements Contest {

    private static final String WITHOUT = "TTL, fencing token, an owner other than a thread";

    private static final Contender LATCHKEY = Contender.latchkey(nowhere -> Ours.exclusive(locks()));
    private static final Contender JDK = Contender.floor("ReentrantLock", WITHOUT + ", order of arrival", nowhere -> {
        ReentrantLock lock = new ReentrantLock();
        return resource -> Cycle.of(lock);
    });
    private static final Contender JDK_FAIR = Contender.floor("ReentrantLock, fair", WITHOUT, nowhere -> {
        ReentrantLock lock = new ReentrantLock(true);
        return resource -> Cycle.of(lock);
    });

    private static final List<Contender> ALL = List.of(
            LATCHKEY,
            Contender.latchkey("a new Lock for each cycle", nowhere -> Ours.newEachTime(locks())),
            Contender.latchkeyShared(nowhere -> Ours.shared(locks())),
            JDK,
            JDK_FAIR,
            Contender.floor("ReentrantReadWriteLock, read", WITHOUT, nowhere -> {
                        ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);
                        return resource -> Cycle.of(lock.readLock());
                    })
                    .shared());

    @Override
    public String store() {
        return "in-memory";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    @Override
    public List<Table> tables() {
        return List.of(
                Table.alone(Placement.ONE_PROCESSOR, ALL).timedInStridesOf(100),
                Table.threads(Placement.ONE_PROCESSOR, List.of(LATCHKEY, JDK, JDK_FAIR)));
    }

    @Override
    public Servers start() {
        return Servers.none("", () -> {});
    }

    private static LockFactory locks() {
        return new LockFactory(new InMemoryStore());
    }

    @Override
    public List<String> libraries() {
        return List.of();
    }
}
