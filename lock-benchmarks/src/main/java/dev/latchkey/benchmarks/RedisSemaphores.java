package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.benchmarks.Contender.Mode;
import dev.latchkey.benchmarks.Contender.Role;
import dev.latchkey.semaphore.Permit;
import dev.latchkey.semaphore.Semaphore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;

/** Permits on Redis beside those of Redisson: two of them, so that most of eight threads wait. */
final class RedisSemaphores implements Contest {

    private static final int PERMITS = 2;

    private static final String NO_ORDER = "order of arrival, word of a loss, counts of more than one";

    private static final List<Contender> ALL = List.of(
            new Contender("Latchkey", Role.LATCHKEY, Mode.SHARED, "", RedisSemaphores::latchkey),
            Contender.peer("Redisson RPermitExpirableSemaphore", NO_ORDER, RedisSemaphores::expirable)
                    .shared(),
            Contender.peer("Redisson RSemaphore", "leases, owners, " + NO_ORDER, RedisSemaphores::plain)
                    .shared());

    private static Contender.Client latchkey(String address) {
        LockFactory locks = LockFactory.connect(address);
        return name -> {
            Semaphore semaphore = locks.semaphore(name, PERMITS).ttl(Ours.TTL).create();
            return new Cycle() {
                private @Nullable Permit permit;

                @Override
                public void take() throws InterruptedException {
                    permit = semaphore.acquire();
                }

                @Override
                public boolean giveUp() {
                    return permit != null && permit.release();
                }
            };
        };
    }

    private static Contender.Client expirable(String address) {
        var redisson = RedisPeers.redisson(address);
        return name -> {
            RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("expirable:" + name);
            boolean unused = semaphore.trySetPermits(PERMITS);
            return new Cycle() {
                private String id = "";

                @Override
                public void take() throws InterruptedException {
                    id = semaphore.acquire(Ours.TTL.toSeconds(), TimeUnit.SECONDS);
                }

                @Override
                public boolean giveUp() {
                    semaphore.release(id);
                    return true;
                }
            };
        };
    }

    private static Contender.Client plain(String address) {
        var redisson = RedisPeers.redisson(address);
        return name -> {
            RSemaphore semaphore = redisson.getSemaphore("plain:" + name);
            boolean unused = semaphore.trySetPermits(PERMITS);
            return new Cycle() {
                @Override
                public void take() throws InterruptedException {
                    semaphore.acquire();
                }

                @Override
                public boolean giveUp() {
                    semaphore.release();
                    return true;
                }
            };
        };
    }

    @Override
    public String store() {
        return "redis-semaphores";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    @Override
    public List<Table> tables() {
        Placement placement = Placement.ONE_PROCESSOR;
        return List.of(
                Table.alone(placement, ALL),
                new Table("threads", "contended: 8 threads of one JVM, two permits", placement, 1, 8, 1, 2, ALL),
                new Table("processes", "contended: 4 JVMs of 2 threads, two permits", placement, 4, 2, 1, 3, ALL));
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
