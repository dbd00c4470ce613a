package dev.latchkey.benchmarks;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.RedisServer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A consensus of three Redis servers, fencing tokens included, beside one server alone. */
final class Combined {

    private static final Duration TTL = Duration.ofSeconds(30);

    private Combined() {}

    static void run() {
        List<RedisServer> servers =
                Stream.generate(() -> RedisServer.start()).limit(3).toList();
        try (LockFactory three = LockFactory.connect("combined:consensus("
                        + servers.stream().map(RedisServer::dsn).collect(Collectors.joining(",")) + ")");
                LockFactory one = LockFactory.connect(servers.get(0).dsn())) {
            Race.printHead("3 servers of one thread each");
            new Race("uncontended: 1 thread", contenders(three, one), 1).print();
            new Race("contended: 8 threads, one lock", contenders(three, one), 8).print();
        } finally {
            servers.forEach(RedisServer::close);
        }
    }

    private static Map<String, Contender.Cycles> contenders(LockFactory three, LockFactory one) {
        Map<String, Contender.Cycles> contenders = new LinkedHashMap<>();
        contenders.put("Latchkey, three servers", cycles(three));
        contenders.put("Latchkey, one server", cycles(one));
        return contenders;
    }

    private static Contender.Cycles cycles(LockFactory locks) {
        return resource -> {
            Lock lock = locks.createLock(resource, TTL);
            return () -> lock.acquire().release();
        };
    }
}
