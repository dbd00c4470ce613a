package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.SecondProcess;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Three processes with the same job, each second; the clock of one is behind, one is killed and one is frozen. {@code
 * -Dlatchkey.ticks=200} for the long form.
 */
class ScheduledJobIT {

    private static final int TICKS = Integer.getInteger("latchkey.ticks", 24);
    private static final int MIN_HOLD_MILLIS = 750;

    /**
     * The seconds in which an attempt had to succeed, or another one had: it began and ended then, and so long after the end of the
     * one that had run last that what that one left was over. One that was killed in its run has no end, and nobody had to run then.
     */
    private static final String NEEDED = "SELECT a.began / 1000 FROM attempt a"
            + " JOIN run r ON r.at = (SELECT max(at) FROM run WHERE at < a.began)"
            + " JOIN attempt b ON b.pid = r.pid AND r.at BETWEEN b.began AND b.ended"
            + " WHERE a.began - b.ended > " + MIN_HOLD_MILLIS + " AND a.ended / 1000 = a.began / 1000"
            + " AND a.began < (SELECT max(at) FROM run)";

    private static final String CLOCK = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

    /** Who has run, while nobody else can have the lock for some time: what others have asked before then is refused. */
    private static final String HOLDER = "SELECT pid FROM run WHERE at + " + MIN_HOLD_MILLIS / 2 + " > (" + CLOCK + ")";

    @TempDir
    private Path directory = Path.of("");

    private final List<AppProcess> processes = new ArrayList<>();
    private final PostgresServer database = PostgresServer.start();

    @AfterEach
    void stop() throws Exception {
        for (AppProcess process : processes) {
            process.close();
        }
        database.close();
    }

    @Test
    void givenThreeProcesses_whenOneIsKilledAndOneFrozen_thenEachTickIsRunOnce() throws Exception {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE run (at bigint, pid bigint)");
            statement.execute("CREATE TABLE attempt (began bigint, ended bigint, pid bigint)");
            start();
            awaitRuns(statement, 1);
            frozenBystander(statement).kill();
            awaitRuns(statement, TICKS / 3);
            AppProcess frozen = frozenBystander(statement);
            awaitRuns(statement, 2 * TICKS / 3);
            awaitNextRun(statement);
            frozen.thaw();
            awaitRuns(statement, TICKS);

            NavigableSet<Long> needed = numbers(statement, NEEDED);
            NavigableSet<Long> runs = numbers(statement, "SELECT at FROM run");
            assertRunOnce(runs, needed);
            assertThat(numbers(statement, "SELECT began FROM attempt"))
                    .as("attempts")
                    .hasSizeGreaterThan(runs.size());
        }
    }

    private void start() throws Exception {
        for (int i = 0; i < 3; i++) {
            processes.add(AppProcess.start(
                    Application.class,
                    directory,
                    "--latchkey.store=jdbc",
                    "--clock.behind=" + (i == 0 ? "400ms" : "0ms"),
                    "--min-hold=" + MIN_HOLD_MILLIS + "ms",
                    "--spring.datasource.url=" + database.jdbcUrl(),
                    "--spring.datasource.hikari.maximum-pool-size=4"));
        }
        processes.forEach(process -> process.awaitLine("ready "));
    }

    /**
     * One that holds nothing: it was frozen while the min hold of another was far from over. Else it might have been granted the
     * lock, or be granted it later on what it had sent, and have told nobody yet.
     */
    private AppProcess frozenBystander(Statement statement) throws Exception {
        for (int i = 0; i < 100; i++) {
            long ran = awaitNextRun(statement);
            AppProcess bystander = processes.stream()
                    .filter(process -> process.isAlive() && process.pid() != ran)
                    .reduce((first, second) -> second)
                    .orElseThrow();
            bystander.freeze();
            if (numbers(statement, HOLDER).contains(ran)) {
                return bystander;
            }
            bystander.thaw();
        }
        throw new AssertionError("each was frozen too late");
    }

    private static long awaitNextRun(Statement statement) throws Exception {
        int before = count(statement);
        awaitRuns(statement, before + 1);
        try (ResultSet last = statement.executeQuery("SELECT pid FROM run ORDER BY at DESC LIMIT 1")) {
            last.next();
            return last.getLong(1);
        }
    }

    private static void awaitRuns(Statement statement, int runs) {
        await().atMost(SecondProcess.LIMIT.plusSeconds(3L * runs))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> count(statement) >= runs);
    }

    private static int count(Statement statement) throws Exception {
        try (ResultSet rows = statement.executeQuery("SELECT count(*) FROM run")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    /** Times are in milliseconds of one clock, that of the database. */
    private static NavigableSet<Long> numbers(Statement statement, String sql) throws Exception {
        NavigableSet<Long> numbers = new TreeSet<>();
        try (ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                numbers.add(rows.getLong(1));
            }
        }
        return numbers;
    }

    /**
     * Never twice within the min hold, wherever the clocks are; and once in each second in which somebody tried when that of the
     * last run was over. A machine that stands still delays attempts, and with them runs.
     */
    private static void assertRunOnce(NavigableSet<Long> runs, NavigableSet<Long> needed) {
        Set<Long> ran = new HashSet<>();
        long last = Long.MIN_VALUE / 2;
        for (long run : runs) {
            assertThat(run - last).as("between runs of %s", runs).isGreaterThanOrEqualTo(MIN_HOLD_MILLIS);
            ran.add(run / 1_000);
            last = run;
        }
        assertThat(needed).as("seconds in which somebody had to run").isNotEmpty();
        assertThat(ran).as("seconds of the runs %s", runs).containsAll(needed);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
                "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration"
            })
    @EnableScheduling
    @Import({Timer.class, Job.class})
    static class Application {

        public static void main(String[] args) {
            SpringApplication application = new SpringApplication(Application.class);
            application.setWebApplicationType(WebApplicationType.NONE);
            application.run(args);
            System.out.println("ready now");
            System.out.flush();
        }

        @Bean
        ThreadPoolTaskScheduler taskScheduler(@Value("${clock.behind}") Duration behind) {
            ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
            scheduler.setClock(Clock.offset(Clock.systemUTC(), behind.negated()));
            return scheduler;
        }
    }

    static class Timer {

        private final JdbcClient sql;
        private final Job job;

        Timer(JdbcClient sql, Job job) {
            this.sql = sql;
            this.job = job;
        }

        @Scheduled(cron = "* * * * * *")
        void tick() {
            long began = now();
            job.run();
            sql.sql("INSERT INTO attempt VALUES (?, ?, ?)")
                    .params(began, now(), ProcessHandle.current().pid())
                    .update();
        }

        private long now() {
            return sql.sql(CLOCK).query(Long.class).single();
        }
    }

    static class Job {

        private final JdbcClient sql;

        Job(JdbcClient sql) {
            this.sql = sql;
        }

        @Locked(value = "'job'", ifHeld = IfHeld.SKIP, minHold = "${min-hold}", ttl = "10s")
        void run() {
            // The token is the database's clock when it was granted, in microseconds.
            sql.sql("INSERT INTO run VALUES (?, ?)")
                    .params(
                            CurrentLock.get().fencingToken().orElseThrow() / 1_000,
                            ProcessHandle.current().pid())
                    .update();
        }
    }
}
