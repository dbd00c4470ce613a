package dev.latchkey.benchmarks;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.benchmarks.Contender.Mode;
import dev.latchkey.benchmarks.Contender.Role;
import java.util.List;
import java.util.stream.Stream;
import org.redisson.api.RReadWriteLock;

/** What only sticky locks are for: processes that mostly read, and what a lock that is kept costs whoever comes next. */
final class RedisSticky implements Contest {

    private static final List<Contender> READERS = List.of(
            readers(
                    "Latchkey",
                    Role.LATCHKEY,
                    address -> mostlyShared(
                            LockFactory.connect(address),
                            (locks, name) -> locks.lock(name).ttl(Ours.TTL).create())),
            readers(
                    "Latchkey, sticky",
                    Role.LATCHKEY,
                    address -> mostlyShared(LockFactory.connect(address), RedisSticky::sticky)),
            readers("Redisson RReadWriteLock", Role.PEER, RedisSticky::redisson));

    private static final List<Contender> RIVALS = List.of(
            Contender.latchkey(
                    "of a free lock",
                    address -> rival(
                            address,
                            (locks, name) -> locks.lock(name).ttl(Ours.TTL).create())),
            Contender.latchkey("of a lock that another process keeps", address -> rival(address, RedisSticky::sticky)));

    private interface Locks {
        Lock create(LockFactory locks, String name);
    }

    private static Contender readers(String title, Role role, Contender.Opener opener) {
        String without = role == Role.PEER ? "fencing token, order of arrival, a writer's turn while readers come" : "";
        return new Contender(title, role, Mode.SHARED, without, opener);
    }

    private static Lock sticky(LockFactory locks, String name) {
        return locks.lock(name).ttl(Ours.TTL).sticky(Ours.KEPT).create();
    }

    private static Contender.Client mostlyShared(LockFactory locks, Locks kind) {
        return name ->
                new MostlyReading(Ours.shared(kind.create(locks, name)), Ours.exclusive(kind.create(locks, name)));
    }

    private static Contender.Client redisson(String address) {
        var redisson = RedisPeers.redisson(address);
        return name -> {
            RReadWriteLock lock = redisson.getReadWriteLock("redisson-readers:" + name);
            return new MostlyReading(RedisPeers.leased(lock.readLock()), RedisPeers.leased(lock.writeLock()));
        };
    }

    /**
     * One process acquires a lock and releases it, and another one acquires it next: only that is timed. Each time another lock, for
     * one that goes back and forth is not kept. The two are two clients here, which know nothing of each other.
     */
    private static Contender.Client rival(String address, Locks kind) {
        LockFactory holders = LockFactory.connect(address);
        LockFactory rivals = LockFactory.connect(address);
        return name -> new Cycle() {
            private Lock lock = rivals.createLock(name, Ours.TTL);
            private int count;

            @Override
            public void prepare() throws InterruptedException {
                boolean unused = lock.release();
                String next = name + ' ' + ++count;
                boolean unusedHolder = kind.create(holders, next).acquire().release();
                lock = rivals.createLock(next, Ours.TTL);
            }

            @Override
            public void take() throws InterruptedException {
                lock.acquire();
            }

            @Override
            public boolean giveUp() {
                return true;
            }
        };
    }

    @Override
    public String store() {
        return "redis-sticky";
    }

    @Override
    public List<Contender> contenders() {
        return Stream.concat(READERS.stream(), RIVALS.stream()).toList();
    }

    @Override
    public List<Table> tables() {
        Placement placement = Placement.ONE_PROCESSOR;
        return List.of(
                new Table("rival", "the acquire alone, after another client's release", placement, 1, 1, 1, 4, RIVALS),
                new Table(
                        "readers",
                        "4 JVMs of 2 threads that read; one of them writes each 100 ms",
                        placement,
                        MostlyReading.JVMS,
                        MostlyReading.THREADS,
                        1,
                        1,
                        READERS));
    }

    @Override
    public Servers start() {
        return new Redis().start();
    }

    @Override
    public List<String> libraries() {
        return List.of("lettuce-core", "redisson");
    }
}
