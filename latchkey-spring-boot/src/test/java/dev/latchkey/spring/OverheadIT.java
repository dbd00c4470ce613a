package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * What it costs: bytes and classes, which are counted, and CPU time of the calling thread as a ratio of the same run, by the
 * best of several rounds, because others run on this machine as well.
 */
class OverheadIT {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int CALLS = 20_000;
    private static final int ROUNDS = 8;
    private static final int STARTS = Integer.getInteger("latchkey.starts", 1);
    private static final double TIMES_BY_HAND = 2;
    private static final long BYTES_PER_CALL = 2_000;
    private static final long MILLIS_PER_START = 50;
    private static final long CLASSES_PER_START = 200;

    private static final String NO_CLIENTS =
            "spring.autoconfigure.exclude=org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration,"
                    + "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration";

    @TempDir
    private Path directory = Path.of("");

    @Test
    void givenALockedMethod_thenCostsLittleMoreThanTheSameCallsByHand() {
        try (ConfigurableApplicationContext app = Apps.start(
                Application.class,
                NO_CLIENTS,
                "spring.datasource.url=jdbc:h2:mem:overhead",
                "latchkey.store=in-memory")) {
            Work work = app.getBean(Work.class);
            LockFactory locks = app.getBean(LockFactory.class);
            double times = Double.MAX_VALUE;
            long bytes = Long.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                Calls byHand = calls(() -> byHand(locks, work));
                Calls annotated = calls(() -> work.locked(7));
                times = Math.min(times, (double) annotated.nanos() / byHand.nanos());
                bytes = Math.min(bytes, annotated.bytes() - byHand.bytes());
                System.out.printf("by hand %s, @Locked %s%n", byHand, annotated);
            }

            assertThat(times).as("CPU time beside the same calls by hand").isLessThanOrEqualTo(TIMES_BY_HAND);
            assertThat(bytes).as("bytes more per call").isLessThanOrEqualTo(BYTES_PER_CALL);
        }
    }

    private static void byHand(LockFactory locks, Work work) {
        Lock lock = locks.lock("order:" + 7)
                .ttl(Duration.ofSeconds(30))
                .autoRefresh()
                .interruptOnLoss()
                .onLost(reason -> {})
                .create();
        try (lock) {
            lock.acquireUninterruptibly();
            work.plain(7);
        }
    }

    private static Calls calls(Runnable call) {
        long start = THREADS.getCurrentThreadCpuTime();
        long allocated = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < CALLS; i++) {
            call.run();
        }
        return new Calls(
                (THREADS.getCurrentThreadCpuTime() - start) / CALLS,
                (THREADS.getCurrentThreadAllocatedBytes() - allocated) / CALLS);
    }

    /**
     * In processes of their own, since a class is loaded once. The time of the main thread, which does nearly all of a start, is
     * only compared if there are many starts: {@code -Dlatchkey.starts=20}. Classes are what it is spent on.
     */
    @Test
    void givenAnApplicationThatLocksNothing_thenTheStarterCostsItLittle() throws Exception {
        List<Cost> without = new ArrayList<>();
        List<Cost> with = new ArrayList<>();
        for (int i = 0; i < STARTS; i++) {
            without.add(start("dev.latchkey.spring.LatchkeyAutoConfiguration,"
                    + "dev.latchkey.spring.LatchkeyHealthAutoConfiguration,"
                    + "dev.latchkey.spring.LocksEndpointAutoConfiguration"));
            with.add(start(""));
        }
        long classes = least(with, Cost::classes) - least(without, Cost::classes);
        long millis = least(with, Cost::millis) - least(without, Cost::millis);
        System.out.printf(
                "start without %d ms, and with the starter %d ms and %d classes more%n",
                least(without, Cost::millis), millis, classes);

        assertThat(classes).isLessThanOrEqualTo(CLASSES_PER_START);
        if (STARTS >= 20) {
            assertThat(millis).isLessThanOrEqualTo(MILLIS_PER_START);
        }
    }

    private static long least(List<Cost> costs, ToLongFunction<Cost> of) {
        return costs.stream().mapToLong(of).min().orElseThrow();
    }

    private Cost start(String excluded) throws Exception {
        try (AppProcess app = AppProcess.start(
                Starting.class,
                directory,
                "--" + NO_CLIENTS + "," + excluded,
                "--spring.datasource.url=jdbc:h2:mem:start")) {
            String[] cost = app.awaitLine("started in ").split(" ", 3);
            return new Cost(Long.parseLong(cost[0]), Long.parseLong(cost[1]));
        }
    }

    /** What one call cost on average. */
    private record Calls(long nanos, long bytes) {}

    private record Cost(long millis, long classes) {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Work.class)
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Starting {

        public static void main(String[] args) {
            SpringApplication application = new SpringApplication(Starting.class);
            application.setWebApplicationType(WebApplicationType.NONE);
            application.run(args);
            System.out.println("started in " + THREADS.getCurrentThreadCpuTime() / 1_000_000 + " "
                    + ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount() + " .");
            System.out.flush();
        }
    }

    static class Work {

        private long done;

        @Locked("'order:' + #id")
        void locked(long id) {
            plain(id);
        }

        void plain(long id) {
            done += id;
        }

        long done() {
            return done;
        }
    }
}
