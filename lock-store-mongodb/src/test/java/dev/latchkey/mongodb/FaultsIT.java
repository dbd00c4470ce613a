package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What may go wrong with a server, or on the way to it. */
@Execution(ExecutionMode.CONCURRENT)
class FaultsIT {

    private static final Duration LONG = Fixture.LONG_TTL;

    private MongoDbServer server;
    private FaultProxy proxy;
    private MongoDbStore store;
    private LockFactory locks;

    @BeforeEach
    void open() {
        server = MongoDbServer.start();
        proxy = FaultProxy.to(server.address());
        store = MongoDbStore.builder(MongoDbServer.dsn(proxy.address(), "faults"))
                .build();
        locks = new LockFactory(store);
        // The first request opens the connection, and may take longer than others.
        Lock warmUp = locks.createLock("warm-up");
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreExceptionsInstanceOf(LockStorageException.class)
                .until(warmUp::tryAcquire);
        assertThat(warmUp.release()).isTrue();
    }

    @AfterEach
    void close() {
        proxy.heal();
        locks.close();
        store.close();
        proxy.close();
        server.close();
    }

    @Test
    void givenTheRequestOfAnAcquireIsLost_whenTheConnectionIsCut_thenItIsAskedAgainAndHeldOnce() {
        CompletableFuture<Void> lost = proxy.loseRequest("lost-request");
        Lock lock = locks.createLock("lost-request", LONG);

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lost).isDone();
        assertHeldOnce(lock, "lost-request");
    }

    @Test
    void givenTheReplyToAnAcquireIsLost_whenTheConnectionIsCut_thenItIsAskedAgainAndHeldOnce() {
        CompletableFuture<Void> lost = proxy.loseReplyTo("lost-reply");
        Lock lock = locks.createLock("lost-reply", LONG);

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lost).isDone();
        assertHeldOnce(lock, "lost-reply");
    }

    @Test
    void givenTheReplyToAPromotionAndADemotionIsLost_whenTheConnectionIsCut_thenBothAreGrantedOnce() {
        Lock lock = locks.createLock("lost-change", LONG);
        assertThat(lock.tryAcquireShared()).isTrue();
        CompletableFuture<Void> promotion = proxy.loseReplyTo("lost-change");

        assertThat(lock.tryAcquire()).isTrue();
        assertThat(promotion).isDone();
        assertThat(locks.createLock("lost-change").tryAcquireShared()).isFalse();
        CompletableFuture<Void> demotion = proxy.loseReplyTo("lost-change");

        assertThat(lock.tryAcquireShared()).isTrue();
        assertThat(demotion).isDone();
        assertThat(locks.createLock("lost-change").tryAcquireShared()).isTrue();
    }

    @Test
    void givenTheReplyToARefreshIsLost_whenTheConnectionIsCut_thenRefreshedWithTheSameToken() {
        Lock lock = locks.createLock("lost-refresh", LONG);
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        CompletableFuture<Void> lost = proxy.loseReplyTo("lost-refresh");

        lock.refresh();

        assertThat(lost).isDone();
        assertThat(lock.fencingToken()).hasValue(token);
        assertThat(lock.isAcquired()).isTrue();
    }

    /** The look is for a hint of when to ask again, and nothing else. */
    @Test
    void givenAnotherHolds_whenTheLookAfterARefusalFails_thenRefusedAndNoFailure() {
        assertThat(locks.createLock("refused", LONG).tryAcquire()).isTrue();
        CommandListener refusing = new CommandListener() {
            @Override
            public void commandStarted(CommandStartedEvent event) {
                if (event.getCommandName().equals("aggregate")) {
                    proxy.refuse();
                }
            }
        };
        MongoClientSettings settings = MongoClientSettings.builder()
                .applyConnectionString(
                        new ConnectionString("mongodb://" + proxy.address() + "/?serverSelectionTimeoutMS=1000"))
                .addCommandListener(refusing)
                .build();
        try (MongoClient client = MongoClients.create(settings);
                LockFactory rivals = new LockFactory(MongoDbStore.builder(client.getDatabase("latchkey_test"))
                        .collection("faults")
                        .build())) {
            // A client that is connected needs none of its time limit before the proxy refuses.
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .ignoreExceptionsInstanceOf(MongoException.class)
                    .until(() -> client.getDatabase("admin")
                            .runCommand(new Document("ping", 1))
                            .containsKey("ok"));

            assertThat(rivals.createLock("refused", LONG).tryAcquire()).isFalse();

            assertThatThrownBy(() -> rivals.createLock("other").tryAcquire())
                    .as("the proxy refuses")
                    .isInstanceOf(LockStorageException.class);
        }
    }

    /** Done again it would say that the lock was not ours. */
    @Test
    void givenTheReplyToAReleaseIsLost_whenTheConnectionIsCut_thenFailureAndItIsReleased() {
        Lock lock = locks.createLock("lost-release", LONG);
        assertThat(lock.tryAcquire()).isTrue();
        CompletableFuture<Void> lost = proxy.loseReplyTo("lost-release");

        assertThatThrownBy(lock::release)
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("lost-release");

        assertThat(lost).isDone();
        assertThat(locks.createLock("lost-release").tryAcquire()).isTrue();
    }

    @Test
    void givenTheRequestOfAReleaseIsLost_whenTheConnectionIsCut_thenFailureAndTheTtlEndsIt() throws Exception {
        Lock lock = locks.createLock("lost-release", TimeLimits.ttl(Duration.ofSeconds(8)));
        assertThat(lock.tryAcquire()).isTrue();
        CompletableFuture<Void> lost = proxy.loseRequest("lost-release");

        assertThatThrownBy(lock::release).isInstanceOf(LockStorageException.class);

        assertThat(lost).isDone();
        assertThat(locks.createLock("lost-release").acquire(TimeLimits.LIMIT).isAcquired())
                .isTrue();
    }

    /** A18: a copy that the server finds late would shorten what was extended since. */
    @Test
    void givenTheReplyToAShorteningIsLost_whenTheConnectionIsCut_thenItIsNotSentAgain() {
        Key key = Key.of("lost-shortening");
        Key claim = Requests.holding(key, store.save(Requests.exclusive(key)));
        CompletableFuture<Void> shortening = proxy.loseReplyTo("lost-shortening");
        Request shorter = Requests.exclusive(claim, Duration.ofSeconds(20)).with(LeaseChange.SET);

        assertInDoubt(() -> store.refresh(shorter));
        assertThat(shortening).isDone();
    }

    /** A copy that the server finds late demotes nothing that was promoted since: that has another token. */
    @Test
    void givenTheReplyToADemotionIsLost_whenTheConnectionIsCut_thenItIsSentAgain() {
        Key key = Key.of("lost-demotion");
        Key claim = Requests.holding(key, store.save(Requests.exclusive(key)));
        CompletableFuture<Void> demotion = proxy.loseReplyTo("lost-demotion");

        Response.Granted shared = Requests.granted(store.save(Requests.shared(claim)));

        assertThat(demotion).isDone();
        assertThat(shared.mode()).isEqualTo(LockMode.SHARED);
        Requests.granted(store.save(Requests.shared(Key.of("lost-demotion"))));
    }

    private static void assertInDoubt(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LockStorageException.class,
                        failure -> assertThat(failure.failure()).isEqualTo(Failure.IN_DOUBT));
    }

    @Test
    void givenTheReplyToAStateIndexIsLost_whenTheConnectionIsCut_thenItIsRaisedAgainAndTheSame() {
        CompletableFuture<Void> raising = proxy.loseReplyTo("lost-index");

        store.raise(Map.of("lost-index", new StateIndex(7, 3)));

        assertThat(raising).isDone();
        CompletableFuture<Void> looking = proxy.loseReplyTo("lost-index");
        assertThat(store.indexes(List.of("lost-index"))).isEqualTo(Map.of("lost-index", new StateIndex(7, 3)));
        assertThat(looking).isDone();
    }

    @Test
    void givenNobodyListens_whenAcquired_thenFailureWithinTheTimeThatSaysWhatToLookAt() {
        ServerAddress nobody = ServerAddress.unused();
        try (LockFactory unreachable = LockFactory.connect(MongoDbServer.dsn(nobody, "faults"))) {
            long start = System.nanoTime();

            assertThatThrownBy(() -> unreachable.createLock("far").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.NOT_SENT))
                    .hasMessageContaining("no MongoDB server")
                    .hasMessageContaining(nobody.toString());

            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(TimeLimits.scaled(Duration.ofSeconds(40)));
        }
    }

    @Test
    void givenTheServerIsFrozen_whenAcquired_thenFailureWithinTheTimeAndHeldAgainOnceThawed() {
        server.freeze();
        long start = System.nanoTime();

        // What it was asked it may still do when it goes on.
        Duration ttl = Duration.ofSeconds(3);
        assertThatThrownBy(() -> locks.createLock("frozen", ttl).tryAcquire()).isInstanceOf(LockStorageException.class);

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TimeLimits.scaled(Duration.ofSeconds(60)));
        server.thaw();
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreExceptionsInstanceOf(LockStorageException.class)
                .until(() -> locks.createLock("frozen").tryAcquire());
    }

    @Test
    void givenTheServerComesBackEmpty_whenAcquiredAgain_thenTokensGrowStill() {
        Lock lock = locks.createLock("forgotten", LONG);
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();

        server.kill();
        assertThatThrownBy(() -> locks.createLock("other").tryAcquire()).isInstanceOf(LockStorageException.class);
        server.restartEmpty();

        Lock next = locks.createLock("forgotten", LONG);
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreExceptionsInstanceOf(LockStorageException.class)
                .until(next::tryAcquire);
        assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(lock.isAcquired()).isFalse();
    }

    /** A thread that is interrupted gets no connection from the driver's pool. */
    @Test
    void givenTheNetworkIsSlow_whenTheCallerIsInterruptedInTheMiddle_thenItIsDoneAndTheFlagKept() throws Exception {
        Lock lock = locks.createLock("interrupted", LONG);
        proxy.silence();
        CompletableFuture<Thread> caller = new CompletableFuture<>();
        BackgroundCall<Boolean> call = BackgroundCall.start(() -> {
            caller.complete(Thread.currentThread());
            boolean acquired = lock.tryAcquire();
            return acquired && Thread.currentThread().isInterrupted();
        });

        caller.join();
        call.interrupt();
        proxy.heal();

        assertThat(call.result()).isTrue();
        assertThat(lock.isAcquired()).isTrue();
    }

    private void assertHeldOnce(Lock lock, String resource) {
        assertThat(lock.isAcquired()).isTrue();
        assertThat(locks.createLock(resource, LONG).tryAcquire()).isFalse();
        assertThat(lock.release()).isTrue();
        assertThat(locks.createLock(resource, LONG).tryAcquire()).isTrue();
    }
}
