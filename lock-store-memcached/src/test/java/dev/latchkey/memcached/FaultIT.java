package dev.latchkey.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What may go wrong with a Memcached server, or on the way to it. */
class FaultIT {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration LIMIT = TimeLimits.LIMIT;

    @Test
    void givenHeld_whenTheServerIsRestarted_thenTheHolderIsToldAndOthersGetIt() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            List<LossReason> told = new CopyOnWriteArrayList<>();
            Lock lock = refreshed(locks, told);

            server.kill();
            server.restart();

            Awaitility.await().atMost(LIMIT).until(() -> !told.isEmpty());
            assertThat(lock.isExpired()).isTrue();
            assertThat(locks.createLock("r", LONG).acquire().isAcquired()).isTrue();
            assertThat(told).hasSize(1);
        }
    }

    @Test
    void givenHeld_whenTheServerIsFlushed_thenTheHolderIsToldAndOthersGetIt() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            List<LossReason> told = new CopyOnWriteArrayList<>();
            Lock lock = refreshed(locks, told);

            assertThat(server.call("flush_all")).containsExactly("OK");

            Awaitility.await().atMost(LIMIT).until(() -> !told.isEmpty());
            assertThat(lock.isExpired()).isTrue();
            assertThat(told).hasSize(1);
            assertThat(locks.createLock("r", LONG).tryAcquire()).isTrue();
        }
    }

    @Test
    void givenHeldAndShared_whenFlushed_thenRefreshAndPromotionSayLostAndTakeNothing() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            Lock writer = locks.createLock("w", LONG).acquire();
            Lock reader = locks.createLock("s", LONG).acquireShared();
            Lock promoter = locks.createLock("p", LONG).acquireShared();

            server.call("flush_all");

            assertThatThrownBy(writer::refresh).isInstanceOf(LockLostException.class);
            assertThatThrownBy(reader::refresh).isInstanceOf(LockLostException.class);
            assertThatThrownBy(promoter::tryAcquire).isInstanceOf(LockLostException.class);
            assertThat(List.of("w", "s", "p"))
                    .allSatisfy(name -> assertThat(locks.createLock(name, LONG).tryAcquire())
                            .isTrue());
        }
    }

    /** The item that lists the readers may go alone. */
    @Test
    void givenReaders_whenOnlyTheirListIsEvicted_thenTheyLearnBeforeTheyGoOn() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            Lock reader = locks.createLock("s", LONG).acquireShared();
            assertThat(server.call("delete lock:s")).containsExactly("DELETED");

            assertThat(reader.isAcquired()).isFalse();

            assertThat(reader.isExpired()).isTrue();
        }
    }

    /** Nor does a reader hold whose own item is gone, though it is listed. */
    @Test
    void givenReaders_whenOnlyTheSignOfOneIsEvicted_thenItAloneHasLost() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            Lock lost = locks.createLock("s", LONG).acquireShared();
            Lock other = locks.createLock("s", LONG).acquireShared();
            assertThat(server.call("delete lock:s~r" + OwnerHash.of(lost.key()).id()))
                    .containsExactly("DELETED");

            assertThatThrownBy(lost::refresh).isInstanceOf(LockLostException.class);

            other.refresh();
            assertThat(other.tryAcquire()).isTrue();
        }
    }

    @Test
    void givenHeld_whenMemoryRunsOutAndItIsEvicted_thenTheHolderIsTold() throws Exception {
        try (MemcachedServer server = MemcachedServer.start("-m", "2");
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            List<LossReason> told = new CopyOnWriteArrayList<>();
            Lock lock = refreshed(locks, told);

            Awaitility.await().atMost(LIMIT).until(() -> {
                fill(server);
                return !told.isEmpty();
            });

            assertThat(lock.isExpired()).isTrue();
            assertThat(Long.parseLong(server.statistics().getOrDefault("evictions", "0")))
                    .isPositive();
            assertThat(locks.createLock("r", LONG).tryAcquire()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"text", "binary"})
    void givenAFullServerThatEvictsNothing_whenAcquired_thenAStorageFailureAndNoConflict(String protocol)
            throws Exception {
        try (MemcachedServer server = MemcachedServer.start("-M", "-m", "2");
                MemcachedStore store = Stores.patient(server.dsn() + "?protocol=" + protocol);
                LockFactory locks = new LockFactory(store)) {
            fill(server);

            assertThatThrownBy(() -> locks.createLock("r", LONG).tryAcquire()).isInstanceOf(LockStorageException.class);
            assertThatThrownBy(() -> locks.createLock("r", LONG).acquireShared(Duration.ofSeconds(1)))
                    .isInstanceOf(LockStorageException.class);

            server.call("flush_all");
            Awaitility.await()
                    .atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(() -> locks.createLock("r", LONG).tryAcquire());
        }
    }

    @Test
    void givenAFullServerThatEvictsNothing_whenRefreshedInVain_thenTheHoldIsAsItWas() throws Exception {
        try (MemcachedServer server = MemcachedServer.start("-M", "-m", "2");
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            Lock writer = locks.createLock("w", LONG).acquire();
            Lock reader = locks.createLock("s", LONG).acquireShared();
            fill(server);

            assertThatThrownBy(writer::refresh).isInstanceOf(LockStorageException.class);
            assertThatThrownBy(reader::refresh).isInstanceOf(LockStorageException.class);

            assertThat(server.call("get lock:w")).hasSize(3);
            assertThat(server.call("get lock:s~r" + OwnerHash.of(reader.key()).id()))
                    .hasSize(3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"request", "reply"})
    void givenAnAcquire_whenItsRequestOrReplyIsLost_thenAFailureAndNothingStaysTaken(String what) throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                FaultProxy proxy = FaultProxy.to(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store);
                MemcachedStore other = Stores.patient(server.address());
                LockFactory others = new LockFactory(other)) {
            locks.createLock("warm-up").acquire().release();
            CompletableFuture<Void> lost =
                    what.equals("request") ? proxy.loseRequest("add lock:r") : proxy.loseReplyTo("add lock:r");
            Lock lock = locks.createLock("r", LONG);

            assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);

            assertThat(lost).isDone();
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> others.createLock("r", LONG).tryAcquire());
            assertThat(lock.tryAcquire()).isFalse();
        }
    }

    @Test
    void givenHeld_whenTheReplyToItsReleaseIsLost_thenAFailureAndItIsFree() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                FaultProxy proxy = FaultProxy.to(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store);
                MemcachedStore other = Stores.patient(server.address());
                LockFactory others = new LockFactory(other)) {
            Lock lock = locks.createLock("r", LONG).acquire();
            CompletableFuture<Void> lost = proxy.loseReplyTo("cas lock:r");

            assertThatThrownBy(lock::release).isInstanceOf(LockStorageException.class);

            assertThat(lost).isDone();
            Lock taker = others.createLock("r", LONG);
            assertThat(taker.tryAcquire()).isTrue();
            assertThat(lock.release()).isFalse();
            assertThat(taker.isAcquired()).isTrue();
        }
    }

    @Test
    void givenHeld_whenTheReplyToARefreshIsLost_thenAFailureAndHeldStill() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                FaultProxy proxy = FaultProxy.to(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("r", LONG).acquire();
            CompletableFuture<Void> lost = proxy.loseReplyTo("cas lock:r");

            assertThatThrownBy(lock::refresh).isInstanceOf(LockStorageException.class);

            assertThat(lost).isDone();
            assertThat(lock.refresh().isAcquired()).isTrue();
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    void givenHeld_whenTheConnectionIsCut_thenTheNextCallConnectsAgain() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                FaultProxy proxy = FaultProxy.to(server.address());
                MemcachedStore store = Stores.patient(proxy.address());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("r", LONG).acquire();

            proxy.cut();

            Awaitility.await()
                    .atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(lock::isAcquired);
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    void givenTheServerIsFrozen_whenAsked_thenAStorageFailureWithinTheLimitAndHoldsSurvive() throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                LockFactory locks = LockFactory.connect(server.dsn() + "?timeout=4s")) {
            Lock lock = locks.createLock("held", LONG);
            // The first call loads the driver's classes, which takes as long as the machine is busy.
            Awaitility.await()
                    .atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(lock::tryAcquire);
            server.freeze();
            long start = System.nanoTime();

            assertThatThrownBy(() -> locks.createLock("r", LONG).tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("did not answer within PT4S");
            assertThatThrownBy(lock::isAcquired).isInstanceOf(LockStorageException.class);

            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(TimeLimits.scaled(Duration.ofSeconds(40)));
            server.thaw();
            Awaitility.await()
                    .atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(lock::isAcquired);
            assertThat(lock.release()).isTrue();
        }
    }

    /** It goes on with the clock it had: what waited in its sockets is stored for too short. */
    @ParameterizedTest
    @ValueSource(strings = {"exclusive", "shared"})
    void givenAskedWhileTheServerIsFrozen_whenItGoesOn_thenTheHoldLastsAsLongAsItIsBelieved(String mode)
            throws Exception {
        try (MemcachedServer server = MemcachedServer.start();
                MemcachedStore store = Stores.patient(server.address());
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("warm-up").acquire().release();
            Lock lock = locks.createLock("r", Duration.ofSeconds(15));
            server.freeze();
            awaitPassed(Duration.ofSeconds(18));
            BackgroundCall<Boolean> asking =
                    BackgroundCall.start(() -> mode.equals("shared") ? lock.tryAcquireShared() : lock.tryAcquire());
            asking.awaitWaiting();
            awaitPassed(Duration.ofMillis(200));

            server.thaw();

            assertThat(asking.result()).isTrue();
            awaitPassed(Duration.ofSeconds(3));
            assertThat(locks.createLock("r", LONG).tryAcquire() && !lock.isExpired())
                    .as("another holds beside one who believes to hold")
                    .isFalse();
            assertThat(lock.isAcquired()).isTrue();
        }
    }

    private static void awaitPassed(Duration time) {
        long start = System.nanoTime();
        Awaitility.await().atMost(LIMIT).until(() -> System.nanoTime() - start >= time.toNanos());
    }

    @Test
    void givenNoServer_whenAsked_thenAStorageFailureAndItWorksOnceThereIsOne() throws Exception {
        try (MemcachedServer server = MemcachedServer.start()) {
            server.kill();
            ServerAddress address = server.address();
            try (MemcachedStore store = new MemcachedStore(address.host(), address.port());
                    LockFactory locks = new LockFactory(store)) {
                Lock lock = locks.createLock("r", LONG);

                assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);

                server.restart();
                Awaitility.await()
                        .atMost(LIMIT)
                        .ignoreExceptionsInstanceOf(LockStorageException.class)
                        .until(lock::tryAcquire);
            }
        }
    }

    private static Lock refreshed(LockFactory locks, List<LossReason> told) throws InterruptedException {
        return locks.lock("r")
                .ttl(TimeLimits.ttl(Duration.ofSeconds(12)))
                .autoRefresh()
                .onLost(told::add)
                .create()
                .acquire();
    }

    /** Stores items of the sizes that those of locks have, more than there is memory for. */
    private static void fill(MemcachedServer server) throws IOException {
        try (Socket socket = server.address().connect()) {
            StringBuilder commands = new StringBuilder();
            for (int length = 20; length <= 200; length += 15) {
                String value = "z".repeat(length);
                for (int i = 0; i < 10_000; i++) {
                    commands.append("set fill-" + length + "-" + i + " 0 0 " + length + " noreply\r\n")
                            .append(value)
                            .append("\r\n");
                }
            }
            socket.getOutputStream()
                    .write(commands.append("version\r\n").toString().getBytes(StandardCharsets.US_ASCII));
            BufferedReader answers =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            assertThat(answers.lines().anyMatch(line -> line.startsWith("VERSION")))
                    .isTrue();
        }
    }
}
