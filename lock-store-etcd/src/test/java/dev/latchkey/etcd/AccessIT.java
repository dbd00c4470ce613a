package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.ServerAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A cluster that asks who somebody is. */
class AccessIT {

    private static final Duration TTL = Duration.ofMinutes(5);

    private static EtcdServer server;

    @BeforeAll
    static void start() {
        server = EtcdServer.start();
        add("root", "rootSecret", "root");
        server.call("auth/role/add", "{\"name\":\"locks\"}");
        server.call(
                "auth/role/grant",
                "{\"name\":\"locks\",\"perm\":{\"permType\":\"READWRITE\",\"key\":\"" + base64("latchkey/")
                        + "\",\"range_end\":\"" + base64("latchkey0") + "\"}}");
        add("orders", "ordersSecret", "locks");
        server.call("auth/enable", "{}");
    }

    private static void add(String user, String password, String role) {
        if (role.equals("root")) {
            server.call("auth/role/add", "{\"name\":\"root\"}");
        }
        server.call("auth/user/add", "{\"name\":\"" + user + "\",\"password\":\"" + password + "\"}");
        server.call("auth/user/grant", "{\"user\":\"" + user + "\",\"role\":\"" + role + "\"}");
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** For a busy machine: each password takes a processor of the server for a while. */
    private static LockFactory connect(String user, String path) {
        return LockFactory.connect("etcd://" + user + server.address() + path + "?timeout=60s");
    }

    /** The role of the page. */
    @Test
    void givenAUserWithTheRole_whenItLocksSharesPromotesAndWaits_thenItMay() throws Exception {
        try (LockFactory locks = connect("orders:ordersSecret@", "")) {
            Lock lock = locks.createLock("report", TTL);
            assertThat(lock.tryAcquireShared()).isTrue();
            assertThat(lock.tryAcquire()).isTrue();
            lock.refresh();
            BackgroundCall<Boolean> waiting = BackgroundCall.start(
                    () -> locks.createLock("report", TTL).acquire().release());
            waiting.awaitWaiting();
            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.release()).isTrue();
            assertThat(waiting.result()).isTrue();
        }
    }

    @Test
    void givenAnotherRoot_whenTried_thenDenied() {
        try (LockFactory locks = connect("orders:ordersSecret@", "/elsewhere")) {
            assertDenied(locks);
        }
    }

    @Test
    void givenAWrongPassword_whenTried_thenDeniedWithoutIt() {
        try (LockFactory locks = connect("orders:mistaken@", "")) {
            assertDenied(locks);
        }
    }

    @Test
    void givenNoUser_whenTried_thenDenied() {
        try (LockFactory locks = connect("", "")) {
            assertDenied(locks);
        }
    }

    /** The first thing that a store with a password asks for is a token. */
    @Test
    void givenTheFirstServerIsDown_whenTried_thenTheNextAnswers() {
        try (LockFactory locks = LockFactory.connect(
                "etcd://orders:ordersSecret@" + ServerAddress.unused() + "," + server.address() + "?timeout=60s")) {
            Lock lock = locks.createLock("first-down", TTL);

            assertThat(lock.tryAcquire()).isTrue();
        }
    }

    /** A server takes some hundredths of a second of a processor for each: those of hundreds of threads take longer than a request may. */
    @Test
    void givenTheServerHasForgottenItsTokens_whenManyLock_thenNotEachSendsThePassword() throws Exception {
        int threads = 50;
        CountDownLatch all = new CountDownLatch(threads);
        try (LockFactory locks = connect("orders:ordersSecret@", "")) {
            assertThat(locks.createLock("before", TTL).tryAcquire()).isTrue();
            server.kill();
            server.restart();
            long before = server.passwords();

            List<BackgroundCall<Boolean>> trying = IntStream.range(0, threads)
                    .mapToObj(i -> BackgroundCall.start(() -> {
                        all.countDown();
                        all.await();
                        return locks.createLock("after-" + i, TTL).tryAcquire();
                    }))
                    .toList();

            for (BackgroundCall<Boolean> one : trying) {
                assertThat(one.result()).isTrue();
            }
            // More than one, if some are refused when another has just been answered.
            assertThat(server.passwords() - before).isLessThan(threads / 5);
        }
    }

    private static void assertDenied(LockFactory locks) {
        Lock lock = locks.createLock("report", TTL);
        assertThatThrownBy(lock::tryAcquire).isInstanceOfSatisfying(LockStorageException.class, failure -> {
            assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.DENIED);
            assertThat(failure).hasMessageNotContaining("mistaken");
        });
    }
}
