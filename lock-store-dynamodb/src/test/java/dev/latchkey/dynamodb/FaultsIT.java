package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Replies are lost, the server throttles, stands still or dies, and items are changed behind the back of the store. */
class FaultsIT {

    private static final String TABLE = "locks";
    private static final Duration TTL = Fixture.LONG_TTL;

    private static DynamoDbServer server;
    private String resource = "";

    @BeforeAll
    static void start() {
        server = DynamoDbServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** The item is there, so that an acquire is one write. */
    @BeforeEach
    void prepare() throws Exception {
        resource = "fault-" + System.nanoTime();
        try (DynamoDbStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            locks.createLock(resource, TTL).acquire().release();
        }
    }

    /** The SDK of the application repeats what was not answered; its first try took effect. */
    @Test
    void givenTheReplyToAnAcquireIsLost_whenTheSdkRepeatsIt_thenItIsOneHold() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                DynamoDbClient client = Stores.client(proxy.address());
                DynamoDbStore store = Stores.builder(client, TABLE).build();
                LockFactory locks = new LockFactory(store)) {
            Lock first = locks.createLock(resource, TTL).acquire();
            long before = first.fencingToken().orElseThrow();
            assertThat(first.release()).isTrue();
            CompletableFuture<Void> lost = proxy.loseReplyTo("fence + :one");

            Lock lock = locks.createLock(resource, TTL).acquire();

            assertThat(lost).isCompleted();
            assertThat(lock.fencingToken()).hasValue(before + 1);
            assertThat(store.find(lock.key())).isPresent();
        }
    }

    @Test
    void givenTheReplyToAReleaseIsLost_whenTheSdkRepeatsIt_thenItWasTheHolder() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                DynamoDbClient client = Stores.client(proxy.address());
                DynamoDbStore store = Stores.builder(client, TABLE).build();
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock(resource, TTL).acquire();
            CompletableFuture<Void> lost = proxy.loseReplyTo("REMOVE ownerToken");

            assertThat(lock.release()).isTrue();

            assertThat(lost).isCompleted();
            assertThat(locks.createLock(resource, TTL).tryAcquire()).isTrue();
        }
    }

    /** Nobody repeats it: the caller is told that it is in doubt, and nothing stays held. */
    @Test
    void givenTheReplyToAnAcquireOfAnOwnClientIsLost_whenItReturns_thenNothingIsHeldUnknown() {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                DynamoDbStore store =
                        Stores.open(DynamoDbServer.dsn(proxy.address().toString()));
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock(resource, TTL);
            CompletableFuture<Void> lost = proxy.loseReplyTo("fence + :one");

            boolean acquired = acquires(lock);

            assertThat(lost).isCompleted();
            assertThat(store.holders(resource)).hasSize(acquired ? 1 : 0);
            assertThat(lock.isAcquired()).isEqualTo(acquired);
        }
    }

    private static boolean acquires(Lock lock) {
        try {
            return lock.tryAcquire();
        } catch (LockStorageException e) {
            assertThat(e.failure()).isEqualTo(Failure.IN_DOUBT);
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"})
    void givenTheTableThrottles_whenAcquired_thenAFewTriesAndAFailureWithoutEffect(String error) throws Exception {
        try (ErrorServer throttling = new ErrorServer(400, error);
                DynamoDbStore store =
                        Stores.open(DynamoDbServer.dsn(throttling.address().toString()));
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.NOT_SENT))
                    .hasMessageContaining("throttled")
                    .hasMessageContaining(error);
            assertThat(throttling.requests()).isEqualTo(4);
        }
    }

    @Test
    void givenThePermissionIsMissing_whenAcquired_thenDenied() throws Exception {
        try (ErrorServer denying = new ErrorServer(400, "AccessDeniedException");
                DynamoDbStore store =
                        Stores.open(DynamoDbServer.dsn(denying.address().toString()));
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.DENIED));
            assertThat(denying.requests()).isEqualTo(1);
        }
    }

    /** The SDK signs each repetition with the time of the service. */
    @Test
    void givenTheClockIsRefused_whenAcquired_thenTriedAgainAndDenied() throws Exception {
        try (ErrorServer refusing = new ErrorServer(400, "RequestTimeTooSkewed");
                DynamoDbStore store =
                        Stores.open(DynamoDbServer.dsn(refusing.address().toString()));
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.DENIED));
            assertThat(refusing.requests()).isEqualTo(4);
        }
    }

    /** Of a client of the caller, nobody knows why it repeated: an earlier try may have taken effect. */
    @Test
    void givenAClientOfTheCallerWasRefusedAfterARepetition_whenAcquired_thenInDoubt() throws Exception {
        try (ErrorServer refusing = new ErrorServer(400, "RequestTimeTooSkewed");
                DynamoDbClient client = Stores.clientWithThreeTries(refusing.address());
                DynamoDbStore store = Stores.builder(client, TABLE).build();
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.IN_DOUBT))
                    .hasMessageContaining("RequestTimeTooSkewed");
        }
    }

    @Test
    void givenAClientOfTheCallerWasRefusedAtItsOnlyTry_whenAcquired_thenDenied() throws Exception {
        try (ErrorServer denying = new ErrorServer(400, "AccessDeniedException");
                DynamoDbClient client = Stores.clientWithThreeTries(denying.address());
                DynamoDbStore store = Stores.builder(client, TABLE).build();
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.DENIED));
            assertThat(denying.requests()).isEqualTo(1);
        }
    }

    /** The message of such an answer repeats headers of the request. */
    @ParameterizedTest
    @ValueSource(strings = {"InvalidSignatureException", "IncompleteSignatureException"})
    void givenTheSignatureIsRefused_whenAcquired_thenOnlyTheCodeIsPassedOn(String error) throws Exception {
        try (ErrorServer refusing = new ErrorServer(400, error);
                DynamoDbStore store =
                        Stores.open(DynamoDbServer.dsn(refusing.address().toString()));
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.DENIED))
                    .hasMessageContaining(error)
                    .hasNoCause();
        }
    }

    @Test
    void givenAnItemThatIsNotOfAStore_whenAsked_thenAFailureOfTheStorage() {
        try (DynamoDbClient client = Stores.client(server.address());
                DynamoDbStore store = Stores.open(server.dsn())) {
            client.updateItem(request -> request.tableName(TABLE)
                    .key(ItemKey.attributes(ItemKey.of(resource)))
                    .updateExpression("SET fence = :text")
                    .expressionAttributeValues(Map.of(":text", AttributeValue.fromS("seven"))));

            assertThatThrownBy(() -> store.holders(resource))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("not of this store");
        }
    }

    /** A repetition could take effect after its answer: the second request gives back what may have been acquired. */
    @Test
    void givenTheServiceFails_whenAcquired_thenNothingIsRepeatedAndItIsInDoubt() throws Exception {
        try (ErrorServer failing = new ErrorServer(500, "InternalServerError");
                DynamoDbStore store =
                        Stores.open(DynamoDbServer.dsn(failing.address().toString()));
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.IN_DOUBT));
            assertThat(failing.requests()).isEqualTo(2);
        }
    }

    /** Neither the SDK nor the JDK. The second request gives back what may have been acquired. */
    @Test
    void givenConnectionsBreakInPlaceOfAnswers_whenAcquired_thenNothingIsRepeatedAndItIsInDoubt() throws Exception {
        try (ErrorServer breaking = ErrorServer.withoutAnswers();
                DynamoDbStore store =
                        Stores.open(DynamoDbServer.dsn(breaking.address().toString()));
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.IN_DOUBT));
            assertThat(breaking.requests()).isEqualTo(2);
        }
    }

    @Test
    void givenNothingListens_whenAcquired_thenNotSent() {
        try (DynamoDbStore store =
                        Stores.open(DynamoDbServer.dsn(ServerAddress.unused().toString()));
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.NOT_SENT))
                    .hasMessageContaining("could not be reached");
        }
    }

    @Test
    void givenTheTableIsMissing_whenAcquired_thenItSaysHowToCreateIt() {
        String dsn = PatientDsn.dynamoDb("dynamodb://eu-central-1/missing?endpoint=http://" + server.address());
        try (DynamoDbStore store = Stores.open(dsn);
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock(resource, TTL).tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("create-table=true");

            store.createTable();
            store.createTable();

            assertThat(locks.createLock(resource, TTL).tryAcquire()).isTrue();
        }
    }

    @Test
    @Tag("slow")
    void givenTheServerStandsStill_whenAsked_thenTheCallEndsInDoubtWithinItsTimeLimit() throws Exception {
        Duration limit = TimeLimits.scaled(Duration.ofMillis(1_500));
        try (DynamoDbServer frozen = DynamoDbServer.start();
                DynamoDbStore patient = Stores.open(frozen.dsn());
                LockFactory warmingUp = new LockFactory(patient);
                DynamoDbStore store =
                        Stores.open(frozen.dsn().replaceFirst("timeout=\\d+ms", "timeout=" + limit.toMillis() + "ms"));
                LockFactory locks = new LockFactory(store)) {
            // The first call loads the driver's classes, which takes as long as the machine is busy.
            assertThat(warmingUp.createLock(resource, TTL).acquire().release()).isTrue();
            Lock lock = locks.createLock(resource, TTL);
            frozen.freeze();
            long before = System.nanoTime();

            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(Failure.IN_DOUBT));

            // The request, and one that gives back what it may have acquired, each with a second of grace.
            assertThat(Duration.ofNanos(System.nanoTime() - before))
                    .isLessThan(limit.plusSeconds(1).multipliedBy(2).plus(TimeLimits.scaled(Duration.ofSeconds(4))));
            frozen.thaw();
        }
    }

    /** A client whose clock is wrong by years wrote the item: nobody reads the time. */
    @Test
    void givenTheTimeOfCleaningIsOver_whenARivalAsks_thenItIsRefused() {
        try (DynamoDbClient client = Stores.client(server.address());
                DynamoDbStore store = Stores.open(server.dsn());
                DynamoDbStore other = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store);
                LockFactory others = new LockFactory(other)) {
            Lock holder = locks.createLock(resource, TTL);
            assertThat(holder.tryAcquire()).isTrue();

            client.updateItem(request -> request.tableName(TABLE)
                    .key(ItemKey.attributes(ItemKey.of(resource)))
                    .updateExpression("SET expiresAt = :past")
                    .expressionAttributeValues(Map.of(":past", AttributeValue.fromN("1"))));

            assertThat(others.createLock(resource, TTL).tryAcquire()).isFalse();
            assertThat(holder.isAcquired()).isTrue();
        }
    }

    @Test
    void givenTheItemWasCleaned_whenAcquired_thenTheTokenIsGreaterStill() {
        try (DynamoDbClient client = Stores.client(server.address());
                DynamoDbStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock(resource, TTL);
            assertThat(lock.tryAcquire()).isTrue();
            long before = lock.fencingToken().orElseThrow();
            assertThat(lock.release()).isTrue();

            client.deleteItem(request -> request.tableName(TABLE).key(ItemKey.attributes(ItemKey.of(resource))));

            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(before);
        }
    }

    @Test
    void givenTheRangeOfTokensIsUsedUp_whenAcquired_thenTheNextRange() {
        try (DynamoDbClient client = Stores.client(server.address());
                DynamoDbStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock(resource, TTL);
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();
            client.updateItem(request -> request.tableName(TABLE)
                    .key(ItemKey.attributes(ItemKey.of(resource)))
                    .updateExpression("SET fence = lastFence"));

            assertThat(lock.tryAcquire()).isTrue();

            long first = lock.fencingToken().orElseThrow();
            assertThat(first % Change.RANGE).isEqualTo(1);
            assertThat(lock.release()).isTrue();
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.fencingToken()).hasValue(first + 1);
        }
    }
}
