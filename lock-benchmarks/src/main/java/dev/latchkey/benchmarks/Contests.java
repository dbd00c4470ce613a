package dev.latchkey.benchmarks;

import java.util.List;
import java.util.Optional;

/** All contests, in the order in which they are run and shown. */
final class Contests {

    private static final List<Contest> ALL = List.of(
            new InMemory(),
            new Flock(),
            new Redis(),
            new RedisSemaphores(),
            new RedisSticky(),
            new Combined(),
            new Jdbc(),
            new PostgresAdvisory(),
            new MySql(),
            new MongoDb(),
            new ZooKeeper(),
            new Etcd(),
            new DynamoDb(),
            new Memcached());

    private Contests() {}

    static List<String> stores() {
        return ALL.stream().map(Contest::store).toList();
    }

    static Optional<Contest> of(String store) {
        return ALL.stream().filter(contest -> contest.store().equals(store)).findFirst();
    }
}
