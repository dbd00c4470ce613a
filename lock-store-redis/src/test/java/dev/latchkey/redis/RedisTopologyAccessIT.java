package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisCluster;
import dev.latchkey.servers.RedisConnection;
import dev.latchkey.servers.RedisSentinel;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Users and passwords where there is more than one server. */
class RedisTopologyAccessIT {

    private static final String RESOURCE = "report";
    private static final String LISTENS = ".* [12]";

    /** Holds, waits, hands over, and asks who holds. */
    private static void useEverything(LockFactory locks, BooleanSupplier isSomebodyListening) throws Exception {
        Lock first = locks.createLock(RESOURCE, LONG_TTL);
        assertThat(first.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> locks.createLock(RESOURCE, LONG_TTL).acquire());
        Awaitility.await().until(isSomebodyListening::getAsBoolean);
        first.refresh();
        assertThat(locks.holders(RESOURCE)).hasSize(1);
        assertThat(first.release()).isTrue();
        assertThat(waiting.result().isAcquired()).isTrue();
        assertThat(waiting.result().release()).isTrue();
    }

    private static boolean isSomebodyListening(RedisServer server, String queue) {
        return server.call("ZRANGE", queue, "0", "-1") instanceof List<?> waiters
                && waiters.stream().anyMatch(waiter -> waiter.toString().matches(LISTENS));
    }

    @Test
    void givenTheDocumentedRightsOnACluster_whenLocksAreUsed_thenNothingIsRefused() throws Exception {
        try (RedisCluster cluster = RedisCluster.start()) {
            String rights = "~lk:* &lk:* " + String.join(" ", Rights.SCRIPTS, Rights.MESSAGES, Rights.CLUSTER);
            cluster.masters().forEach(master -> Rights.give(master, "app", rights));
            RedisServer owner = cluster.masterOf("lk:{" + RESOURCE + "}");
            String dsn = cluster.dsn().replace("://", "://" + Rights.login("app") + "@") + "?prefix=lk:";

            try (LockFactory locks = LockFactory.connect(PatientDsn.redis(dsn))) {
                useEverything(locks, () -> isSomebodyListening(owner, "lk:{" + RESOURCE + "}:q"));
            }

            assertThat(cluster.masters()).flatMap(Rights::refusals).isEmpty();
        }
    }

    @Test
    void givenTheDocumentedRightsAndAReplica_whenItIsToAcknowledge_thenNothingIsRefused() throws Exception {
        try (RedisSentinel servers = RedisSentinel.start()) {
            RedisServer master = servers.master();
            Rights.give(
                    master,
                    "app",
                    "~lk:* &lk:in:* " + String.join(" ", Rights.SCRIPTS, Rights.MESSAGES, Rights.REPLICAS));
            RedisClient client = RedisClient.create("redis://" + Rights.login("app") + "@" + master.address());
            try (RedisStore store = RedisStore.builder(client)
                    .keyPrefix("lk:")
                    .replicas(1, TimeLimits.LIMIT.dividedBy(2))
                    .commandTimeout(TimeLimits.LIMIT)
                    .build()) {
                useEverything(new LockFactory(store), () -> isSomebodyListening(master, "lk:{" + RESOURCE + "}:q"));
            } finally {
                client.shutdown();
            }

            assertThat(Rights.refusals(master)).isEmpty();
        }
    }

    @Test
    void givenSentinelsMasterWantsAPassword_whenTheDsnHasIt_thenItWorksAndElseAFailureSaysSo() throws Exception {
        try (RedisSentinel servers = RedisSentinel.start()) {
            servers.master().call("CONFIG", "SET", "requirepass", "s3cret");
            String dsn = servers.dsn().replace("://", "://s3cret@");

            try (LockFactory locks = LockFactory.connect(PatientDsn.redis(dsn))) {
                useEverything(locks, () -> isSomebodyListening(servers.master()));
            }
            try (LockFactory locks = LockFactory.connect(servers.dsn())) {
                Lock lock = locks.createLock(RESOURCE);
                // Now and then, Lettuce says that it closed the connection, and not why.
                Awaitility.await()
                        .until(() -> failureWithout("s3cret", lock::tryAcquire), failure -> failure.contains("NOAUTH"));
            }
        }
    }

    @Test
    void givenSentinelsWithAPasswordOfTheirOwn_whenTheDsnHasBoth_thenItWorksAlsoAfterAFailover() throws Exception {
        try (RedisSentinel servers = RedisSentinel.startWithPassword("gu4rd")) {
            Rights.give(servers.master(), "app", "~* &* +@all");
            Rights.give(servers.replica(), "app", "~* &* +@all");
            String dsn = servers.dsn().replace("://", "://" + Rights.login("app") + "@");
            String options = PatientDsn.redis("?sentinel-password=gu4rd");

            try (LockFactory locks = LockFactory.connect(dsn.replace("#", options + "#"))) {
                useEverything(locks, () -> isSomebodyListening(servers.master(), "lock:{" + RESOURCE + "}:q"));
                servers.awaitInStep();
                servers.master().kill();
                servers.awaitFailover();
                useEverything(locks, () -> isSomebodyListening(servers.replica(), "lock:{" + RESOURCE + "}:q"));
            }
        }
    }

    @Test
    void givenSentinelsWithAPasswordOfTheirOwn_whenTheDsnHasAnother_thenAFailureWithoutIt() {
        try (RedisSentinel servers = RedisSentinel.startWithPassword("gu4rd");
                LockFactory locks = LockFactory.connect(
                        servers.dsn().replace("#", "?sentinel-user=default&sentinel-password=wr0ng#"))) {
            Lock lock = locks.createLock(RESOURCE);

            // Now and then, Lettuce says that it closed the connection, and not why.
            Awaitility.await()
                    .until(() -> failureWithout("wr0ng", lock::tryAcquire), failure -> failure.contains("WRONGPASS"));
        }
    }

    private static String failureWithout(String password, ThrowingCallable call) {
        String failure = stackTrace(catchThrowableOfType(LockStorageException.class, call));
        assertThat(failure).doesNotContain(password);
        return failure;
    }

    @Test
    void givenSentinelsWithAPasswordOfTheirOwn_whenTheClientHasIt_thenItWorks() throws Exception {
        try (RedisSentinel servers = RedisSentinel.startWithPassword("gu4rd")) {
            RedisClient client = RedisClient.create(RedisURI.builder()
                    .withSentinelMasterId("latchkey")
                    .withSentinel(servers.address().host(), servers.address().port(), "gu4rd")
                    .build());
            try (RedisStore store =
                    RedisStore.builder(client).commandTimeout(TimeLimits.LIMIT).build()) {
                useEverything(
                        new LockFactory(store),
                        () -> isSomebodyListening(servers.master(), "lock:{" + RESOURCE + "}:q"));
            } finally {
                client.shutdown();
            }
        }
    }

    private static String stackTrace(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static boolean isSomebodyListening(RedisServer server) {
        try (RedisConnection connection = RedisConnection.open(server.address())) {
            connection.call("AUTH", "s3cret");
            return connection.call("ZRANGE", "lock:{" + RESOURCE + "}:q", "0", "-1") instanceof List<?> waiters
                    && waiters.stream().anyMatch(waiter -> waiter.toString().matches(LISTENS));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
