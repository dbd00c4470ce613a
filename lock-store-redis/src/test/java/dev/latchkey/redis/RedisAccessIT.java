package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A user with exactly the rights that docs/stores/redis.md asks for, and users with fewer. */
class RedisAccessIT extends OnOneServer {

    @Test
    void givenTheDocumentedRights_whenEverythingIsDone_thenNothingIsRefused() throws Exception {
        String dsn = user("all", "~lk:* &lk:in:* " + Rights.SCRIPTS + " " + Rights.MESSAGES);
        try (RedisStore store = open(dsn)) {
            LockFactory locks = new LockFactory(store);
            Lock first = locks.createLock("report", LONG_TTL);
            Lock second = locks.createLock("report", LONG_TTL);
            assertThat(first.acquireShared().isAcquired()).isTrue();
            assertThat(second.tryAcquireShared()).isTrue();
            CompletableFuture<Lock> promoting = Background.acquire(first);
            awaitQueued("lk:{report}:q", 1);
            second.refresh();
            assertThat(second.release()).isTrue();
            assertThat(promoting.join().fencingToken()).isPresent();
            CompletableFuture<Lock> next = Background.acquire(second);
            awaitQueued("lk:{report}:q", 1);
            assertThat(locks.createLock("report").tryAcquire(Duration.ofMillis(1_500)))
                    .isFalse();
            first.refresh(TimeLimits.ttl(Duration.ofSeconds(5)));
            assertThat(next.join().isAcquired()).isTrue();
            assertThat(store.capability(InspectableStore.class).orElseThrow().holders("report"))
                    .hasSize(1);
            assertThat(second.release()).isTrue();
        }
        assertThat(Rights.refusals(server)).isEmpty();
    }

    @Test
    void givenNoRightToSubscribe_whenWaitedFor_thenItPollsAndIsGranted() throws Exception {
        String dsn = user("mute", "~lk:* " + Rights.SCRIPTS);
        try (RedisStore store = open(dsn)) {
            LockFactory locks = new LockFactory(store);
            Lock first = locks.createLock("poll", LONG_TTL).acquire();
            CompletableFuture<Lock> waiting = Background.acquire(locks.createLock("poll", LONG_TTL));
            awaitQueued("lk:{poll}:q", 1);

            assertThat(first.release()).isTrue();

            assertThat(waiting.join().isAcquired()).isTrue();
            assertThat(waiting.join().remainingLifetime().orElseThrow()).isGreaterThan(LONG_TTL.dividedBy(2));
        }
        server.call("ACL", "LOG", "RESET");
    }

    @Test
    void givenNoRightToSubscribe_whenSeveralWait_thenOneWarning() throws Exception {
        String dsn = user("silent", "~lk:* " + Rights.SCRIPTS);
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try (RedisStore store = open(dsn)) {
            LockFactory locks = new LockFactory(store);
            for (String resource : List.of("one", "two", "three")) {
                Lock first = locks.createLock(resource, LONG_TTL).acquire();
                CompletableFuture<Lock> waiting = Background.acquire(locks.createLock(resource, LONG_TTL));
                awaitQueued("lk:{" + resource + "}:q", 1);
                Awaitility.await()
                        .untilAsserted(() -> assertThat(written.toString(StandardCharsets.UTF_8))
                                .containsOnlyOnce("lock.subscription_failed"));
                assertThat(first.release()).isTrue();
                assertThat(waiting.join().release()).isTrue();
            }
        } finally {
            System.setErr(before);
        }
        assertThat(written.toString(StandardCharsets.UTF_8)).containsOnlyOnce("lock.subscription_failed");
        server.call("ACL", "LOG", "RESET");
    }

    @Test
    void givenItPolls_whenItIsAllowedToSubscribe_thenTheQueueKnowsThatItListensAtItsPlace() throws Exception {
        String dsn = user("soon", "~lk:* " + Rights.SCRIPTS);
        try (RedisStore store = open(dsn)) {
            LockFactory locks = new LockFactory(store);
            Lock first = locks.createLock("heard", LONG_TTL);
            assertThat(first.tryAcquire()).isTrue();
            CompletableFuture<Lock> polling = Background.acquire(locks.createLock("heard", LONG_TTL));
            awaitQueued("lk:{heard}:q", 1);
            assertThat(queue("lk:{heard}:q").get(0)).endsWith(" 0");
            CompletableFuture<Lock> next = Background.acquire(locks.createLock("heard", LONG_TTL));
            awaitQueued("lk:{heard}:q", 2);

            server.call("ACL", "SETUSER", "soon", "&lk:in:*", "+publish", "+subscribe", "+unsubscribe");

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .untilAsserted(() -> assertThat(queue("lk:{heard}:q"))
                            .hasSize(2)
                            .allSatisfy(waiter -> assertThat(waiter).endsWith(" 1")));
            assertThat(first.release()).isTrue();
            assertThat(polling.join().isAcquired()).isTrue();
            assertThat(next.isDone()).isFalse();
            assertThat(polling.join().release()).isTrue();
            assertThat(next.join().release()).isTrue();
        }
        server.call("ACL", "LOG", "RESET");
    }

    @Test
    void givenAKeyOutsideTheRights_whenAcquired_thenAFailureThatSaysWhatIsMissing() {
        String dsn = user("other", "~other:* " + Rights.SCRIPTS);
        try (RedisStore store = open(dsn)) {
            Lock lock = new LockFactory(store).createLock("report");

            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOf(LockStorageException.class)
                    .isInstanceOfSatisfying(LockStorageException.class, RedisAccessIT::assertDenied)
                    .hasMessageContaining("NOPERM")
                    .hasMessageContaining("docs/stores/redis.md");
        }
        server.call("ACL", "LOG", "RESET");
    }

    /** C25: what the server said is in the message, and that trying again does not help. */
    @Test
    void givenAWrongPassword_whenAcquired_thenDeniedInTheServersWordsWithoutIt() {
        try (RedisStore store = open("redis://nobody:s3cret@" + server.address() + "?prefix=lk:")) {
            Lock lock = new LockFactory(store).createLock("report");

            assertServerDenies("WRONGPASS invalid username-password pair", lock::tryAcquire);
            assertThat(store.toString()).doesNotContain("s3cret");
        }
        server.call("ACL", "LOG", "RESET");
    }

    @Test
    void givenAPasswordIsWanted_whenAcquiredWithoutOrForNoDatabase_thenDeniedInTheServersWords() {
        try (RedisServer closed = RedisServer.start();
                RedisStore none = open("redis://" + closed.address());
                RedisStore noDatabase = open("redis://:s3cret@" + closed.address() + "/4711")) {
            closed.call("CONFIG", "SET", "requirepass", "s3cret");

            assertServerDenies("NOAUTH", () -> none.save(Requests.exclusive(Key.of("r"))));
            assertServerDenies("DB index is out of range", () -> noDatabase.save(Requests.exclusive(Key.of("r"))));
        }
    }

    /** In the words of the server, and never with the password. */
    private static void assertServerDenies(String words, ThrowingCallable call) {
        // Now and then, Lettuce says that it closed the connection, and not why.
        LockStorageException failure = Awaitility.await()
                .until(
                        () -> failureWithoutPassword(call),
                        said -> String.valueOf(said.getMessage()).contains(words));
        assertDenied(failure);
    }

    private static LockStorageException failureWithoutPassword(ThrowingCallable call) {
        LockStorageException failure = catchThrowableOfType(LockStorageException.class, call);
        assertThat(failure).isNotNull().hasMessageNotContaining("s3cret");
        return failure;
    }

    private static void assertDenied(LockStorageException denied) {
        assertThat(denied.failure()).isEqualTo(LockStorageException.Failure.DENIED);
    }

    private static String user(String name, String rights) {
        Rights.give(server, name, rights);
        return PatientDsn.redis("redis://" + Rights.login(name) + "@" + server.address() + "?prefix=lk:");
    }

    private static void awaitQueued(String queue, long count) {
        Awaitility.await().until(() -> Objects.equals(server.call("ZCARD", queue), count));
    }

    private static List<String> queue(String name) {
        Object members = server.call("ZRANGE", name, "0", "-1");
        return members instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : List.of();
    }
}
