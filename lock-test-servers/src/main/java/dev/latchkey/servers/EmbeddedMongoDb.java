package dev.latchkey.servers;

import de.bwaldvogel.mongo.MongoServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;

/**
 * A program that takes the place of {@code mongod} where there is none: the server of the artifact
 * {@code de.bwaldvogel:mongo-java-server}, in memory, with the {@link EmbeddedBackend}. It has no journal, no elections, no
 * sessions, and never deletes by a TTL index. A process of its own, so that it can be killed and frozen as the real one.
 */
final class EmbeddedMongoDb {

    static final String CLOCK_OFFSET = "--clockOffset";
    static final String REPLICA_SET = "--replSet";
    static final String ROUTER = "--router";

    /** Commands come one at a time, and without change streams none of them waits. */
    private static final int THREADS = 4;

    /** A connection that waits for changes occupies a thread. */
    private static final int THREADS_WITH_CHANGES = 100;

    private EmbeddedMongoDb() {}

    /** Runs it as a child of this JVM, with its class path. */
    static Launcher launcher() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = List.of(
                java,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-Xmx256m",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                "-cp",
                System.getProperty("java.class.path"));
        return new BinaryLauncher(Path.of(EmbeddedMongoDb.class.getName()), command);
    }

    /**
     * Runs until it is killed.
     *
     * @param args those of {@code mongod}, of which {@code --port} and {@code --replSet} count, {@code --clockOffset}
     *     with a duration by which its clock is wrong, and {@code --router} if it is to greet as a {@code mongos}
     */
    public static void main(String[] args) {
        List<String> all = List.of(args);
        Duration offset = all.contains(CLOCK_OFFSET) ? Duration.parse(after(all, CLOCK_OFFSET)) : Duration.ZERO;
        EmbeddedBackend.Role role = role(all);
        EmbeddedBackend backend = new EmbeddedBackend(Clock.offset(Clock.systemUTC(), offset), role);
        int port = Integer.parseInt(after(all, "--port"));
        int threads = role == EmbeddedBackend.Role.STANDALONE ? THREADS : THREADS_WITH_CHANGES;
        new MongoServer(backend).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1, threads);
    }

    private static EmbeddedBackend.Role role(List<String> args) {
        if (args.contains(ROUTER)) {
            return EmbeddedBackend.Role.ROUTER;
        }
        return args.contains(REPLICA_SET) ? EmbeddedBackend.Role.REPLICA_SET : EmbeddedBackend.Role.STANDALONE;
    }

    private static String after(List<String> all, String option) {
        return all.get(all.indexOf(option) + 1);
    }
}
