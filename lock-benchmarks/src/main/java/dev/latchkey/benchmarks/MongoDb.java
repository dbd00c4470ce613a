package dev.latchkey.benchmarks;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.Updates;
import com.sun.management.OperatingSystemMXBean;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.mongodb.MongoDbStore;
import dev.latchkey.testkit.MongoDbServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * The MongoDB store beside ShedLock and the bare commands, all over one client with one write concern. The contenders take
 * turns on one thread, and the median of the turns counts. To be run on one processor, server and all:
 * {@code taskset -c 0 ./benchmark mongodb}. The embedded server evaluates pipelines much slower than MongoDB does.
 */
final class MongoDb {

    private static final int WARM_UPS = 8;
    private static final int TURNS = 19;
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(400);
    private static final Duration TTL = Duration.ofSeconds(30);

    private enum Contender {
        LATCHKEY("Latchkey, exclusive"),
        LATCHKEY_SHARED("Latchkey, shared"),
        UPDATE_AND_DELETE("findOneAndUpdate, deleteOne"),
        INSERT_AND_DELETE("insertOne, deleteOne"),
        SHEDLOCK("ShedLock");

        private final String title;

        Contender(String title) {
            this.title = title;
        }
    }

    private record Turn(double perSecond, double cpuMicros) {}

    private interface Cycle {
        boolean run();
    }

    private MongoDb() {}

    static void run() {
        try (MongoDbServer server = MongoDbServer.start();
                MongoClient client = MongoClients.create(server.uri());
                MongoDbStore store = MongoDbStore.builder(client)
                        .database("benchmark")
                        .collection("latchkey")
                        .build();
                LockFactory locks = new LockFactory(store)) {
            MongoDatabase database =
                    client.getDatabase("benchmark").withWriteConcern(WriteConcern.MAJORITY.withJournal(true));
            print(measure(contenders(locks.createLock("benchmark", TTL), database)));
        }
    }

    private static Map<Contender, Cycle> contenders(Lock lock, MongoDatabase database) {
        Map<Contender, Cycle> cycles = new EnumMap<>(Contender.class);
        cycles.put(Contender.LATCHKEY, () -> lock.tryAcquire() && lock.release());
        cycles.put(Contender.LATCHKEY_SHARED, () -> lock.tryAcquireShared() && lock.release());
        cycles.put(Contender.UPDATE_AND_DELETE, updateAndDelete(database.getCollection("bare_update")));
        cycles.put(Contender.INSERT_AND_DELETE, insertAndDelete(database.getCollection("bare_insert")));
        cycles.put(Contender.SHEDLOCK, shedLock(new MongoLockProvider(database.getCollection("shedlock"))));
        return cycles;
    }

    private static Cycle updateAndDelete(MongoCollection<Document> collection) {
        return () -> {
            String token = UUID.randomUUID().toString();
            Instant end = Instant.now().plus(TTL);
            collection.findOneAndUpdate(
                    Filters.eq("benchmark"),
                    Updates.combine(Updates.set("token", token), Updates.set("expires_at", end)),
                    new FindOneAndUpdateOptions().upsert(true));
            return collection.deleteOne(owned(token)).getDeletedCount() == 1;
        };
    }

    private static Cycle insertAndDelete(MongoCollection<Document> collection) {
        return () -> {
            String token = UUID.randomUUID().toString();
            Instant end = Instant.now().plus(TTL);
            collection.insertOne(
                    new Document("_id", "benchmark").append("token", token).append("expires_at", end));
            return collection.deleteOne(owned(token)).getDeletedCount() == 1;
        };
    }

    private static Bson owned(String token) {
        return Filters.and(Filters.eq("benchmark"), Filters.eq("token", token));
    }

    private static Cycle shedLock(LockProvider provider) {
        return () -> {
            var taken = provider.lock(new LockConfiguration(Instant.now(), "benchmark", TTL, Duration.ZERO));
            taken.ifPresent(SimpleLock::unlock);
            return taken.isPresent();
        };
    }

    private static Map<Contender, List<Turn>> measure(Map<Contender, Cycle> contenders) {
        Map<Contender, List<Turn>> turns = new EnumMap<>(Contender.class);
        for (int turn = 0; turn < WARM_UPS + TURNS; turn++) {
            for (Map.Entry<Contender, Cycle> contender : contenders.entrySet()) {
                Turn taken = turn(contender.getValue());
                if (turn >= WARM_UPS) {
                    turns.computeIfAbsent(contender.getKey(), key -> new ArrayList<>())
                            .add(taken);
                }
            }
        }
        return turns;
    }

    private static Turn turn(Cycle cycle) {
        long cpuBefore = cpuNanos();
        long start = System.nanoTime();
        long cycles = 0;
        while (System.nanoTime() - start < TURN_NANOS) {
            if (!cycle.run()) {
                throw new IllegalStateException("a cycle without a rival was refused");
            }
            cycles++;
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        return new Turn(cycles / seconds, (cpuNanos() - cpuBefore) / 1e3 / cycles);
    }

    /** What this process has taken of the processor so far, the server not among it. */
    private static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static void print(Map<Contender, List<Turn>> turns) {
        System.out.printf(
                "JDK %s, %s %s, %d processors; medians of %d turns of %d ms, in turn%n%n",
                Runtime.version(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(),
                TURNS,
                TimeUnit.NANOSECONDS.toMillis(TURN_NANOS));
        System.out.println("| cycle | a second | Latchkey is | client CPU µs | Latchkey is |");
        System.out.println("|---|---:|---:|---:|---:|");
        List<Turn> ours = turns.getOrDefault(Contender.LATCHKEY, List.of());
        turns.forEach((contender, theirs) -> System.out.printf(
                "| %s | %,.0f | %.2f× | %,.0f | %.2f× |%n",
                contender.title,
                median(theirs, Turn::perSecond),
                median(ours, Turn::perSecond) / median(theirs, Turn::perSecond),
                median(theirs, Turn::cpuMicros),
                median(theirs, Turn::cpuMicros) / median(ours, Turn::cpuMicros)));
    }

    private static double median(List<Turn> turns, ToDoubleFunction<Turn> of) {
        return turns.stream().mapToDouble(of).sorted().toArray()[turns.size() / 2];
    }
}
