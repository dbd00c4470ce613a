package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.micrometer.LatchkeyMetrics;
import dev.latchkey.servers.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.function.Function;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** The Redis store beside its peers and the least that locks there. */
final class Redis implements Contest {

    private static final String NO_TOKEN = "fencing token, order of arrival";

    private static final Contender LATCHKEY =
            Contender.latchkey(address -> Ours.exclusive(LockFactory.connect(address)));
    private static final Contender FLOOR = Contender.floor(
            "SET NX PX + compare-and-delete",
            "waiting (asks every 5 ms), fencing token, sharing, order of arrival, word of a loss",
            RedisPeers::floor);
    private static final Contender REDISSON =
            Contender.peer("Redisson RLock", NO_TOKEN, RedisPeers.redisson("redisson:", redisson -> redisson::getLock));
    private static final Contender REDISSON_FAIR = Contender.peer(
            "Redisson RFairLock",
            "fencing token; its client's clock decides about the line",
            RedisPeers.redisson("redisson-fair:", redisson -> redisson::getFairLock));
    private static final Contender SPRING_PUB_SUB = Contender.peer(
            "Spring RedisLockRegistry, pub/sub", NO_TOKEN, RedisPeers.spring(RedisLockType.PUB_SUB_LOCK));
    private static final Contender SPRING_SPIN = Contender.peer(
            "Spring RedisLockRegistry, spin",
            "waiting (asks every 100 ms), fencing token, order of arrival",
            RedisPeers.spring(RedisLockType.SPIN_LOCK));
    private static final Contender SHED_LOCK = Contender.peer(ShedLock.TITLE, ShedLock.WITHOUT, RedisPeers::shedLock);

    private static final Contender STICKY =
            Contender.latchkey("sticky", address -> Ours.sticky(LockFactory.connect(address)));

    private static final List<Contender> ALL = List.of(
            LATCHKEY,
            STICKY,
            Contender.latchkey("with metrics", address -> Ours.exclusive(withMetrics(address))),
            Contender.latchkeyShared(address -> Ours.shared(LockFactory.connect(address))),
            FLOOR,
            REDISSON,
            REDISSON_FAIR,
            Contender.peer("Redisson RFencedLock", "order of arrival", RedisPeers::redissonFenced),
            Contender.peer(
                    "Redisson RReadWriteLock, write", NO_TOKEN, RedisPeers.redisson("redisson-rw:", Redis::writeLock)),
            Contender.peer(
                            "Redisson RReadWriteLock, read",
                            "a writer's turn while readers keep coming",
                            RedisPeers.redisson("redisson-rw:", Redis::readLock))
                    .shared(),
            SPRING_SPIN,
            SPRING_PUB_SUB,
            SHED_LOCK);

    /** One of each kind: four JVMs each of all variants would keep the processor busy by being there. */
    private static final List<Contender> KINDS =
            List.of(LATCHKEY, STICKY, FLOOR, REDISSON, REDISSON_FAIR, SPRING_SPIN, SPRING_PUB_SUB, SHED_LOCK);

    private static LockFactory withMetrics(String address) {
        MeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        return LockFactory.builder(address)
                .listener(LatchkeyMetrics.builder(registry).build())
                .build();
    }

    private static Function<String, RLock> writeLock(RedissonClient redisson) {
        return name -> redisson.getReadWriteLock(name).writeLock();
    }

    private static Function<String, RLock> readLock(RedissonClient redisson) {
        return name -> redisson.getReadWriteLock(name).readLock();
    }

    @Override
    public String store() {
        return "redis";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    @Override
    public List<Table> tables() {
        return List.of(
                Table.alone(Placement.ONE_PROCESSOR, ALL),
                Table.threads(Placement.ONE_PROCESSOR, ALL),
                Table.processes(Placement.ONE_PROCESSOR, KINDS));
    }

    @Override
    public Servers start() {
        RedisServer server = RedisServer.start();
        return new Servers(server.dsn(), software(server), () -> executed(server), server::close);
    }

    static String software(RedisServer server) {
        return "Redis " + field(server, "server", "redis_version:") + ", nothing on disk";
    }

    private static String field(RedisServer server, String section, String name) {
        return server.text("INFO", section)
                .lines()
                .filter(line -> line.startsWith(name))
                .findFirst()
                .orElseThrow()
                .substring(name.length());
    }

    /** Commands that the server has executed, those of scripts among them, the questions of this benchmark not. */
    private static long executed(RedisServer server) {
        return server.text("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_") && !line.contains("|") && !line.startsWith("cmdstat_info"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf("calls=") + 6, line.indexOf(','))))
                .sum();
    }

    @Override
    public List<String> libraries() {
        return List.of(
                "lettuce-core",
                "redisson",
                "spring-integration-redis",
                "spring-data-redis",
                "shedlock-provider-redis-spring");
    }
}
