package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/** A try that nobody waits for any more arrives after its repetition, or a repetition after what came next. */
class LateDuplicateIT {

    private static final Duration TTL = Duration.ofMinutes(1);

    private final String resource = "late-" + System.nanoTime();
    private final AtomicReference<UpdateItemRequest> last = new AtomicReference<>();
    private final AtomicReference<Runnable> afterNext = new AtomicReference<>();
    private DynamoDbClient plain;
    private DynamoDbClient client;
    private DynamoDbStore store;
    private DynamoDbStore other;
    private LockFactory locks;
    private LockFactory others;

    @BeforeEach
    void open() throws Exception {
        URI shared = Dsn.parse(DynamoDbServer.sharedDsn()).endpoint().orElseThrow();
        ServerAddress address = new ServerAddress(shared.getHost(), shared.getPort());
        plain = Stores.client(address);
        client = Stores.client(address, new Duplicates());
        store = Stores.builder(client, "late").createTableIfMissing().build();
        other = Stores.builder(plain, "late").build();
        locks = new LockFactory(store);
        others = new LockFactory(other);
        locks.createLock(resource, TTL).acquire().release();
    }

    @AfterEach
    void close() {
        locks.close();
        others.close();
        store.close();
        other.close();
        client.close();
        plain.close();
    }

    @Test
    void givenALateDuplicateOfARelease_whenTheSameLockHoldsAgain_thenItHoldsOn() throws Exception {
        Lock lock = locks.createLock(resource, TTL).acquire();
        lock.release();
        UpdateItemRequest release = sentLast();
        lock.acquire();

        refuses(release);

        assertThat(others.createLock(resource, TTL).tryAcquire()).isFalse();
        assertThat(lock.isAcquired()).isTrue();
    }

    /** Otherwise a version comes back that a rival has watched for a whole lease. */
    @Test
    void givenALateDuplicateOfARenewal_whenRenewedSince_thenRefused() throws Exception {
        Lock lock = locks.createLock(resource, TTL).acquire();
        lock.refresh();
        UpdateItemRequest renewal = sentLast();
        lock.refresh();

        refuses(renewal);

        assertThat(lock.isAcquired()).isTrue();
    }

    @Test
    @Tag("slow")
    void givenALateDuplicateOfAShortening_whenProlongedSince_thenARivalIsKeptOut() {
        Duration shorter = TimeLimits.ttl(Duration.ofSeconds(4));
        Lock lock = locks.createLock(resource, TTL);
        // Again where so much time passes that the shorter lease ends before it is prolonged.
        UpdateItemRequest shortening = Awaitility.await()
                .ignoreExceptionsMatching(LateDuplicateIT::isExpired)
                .until(() -> shortenedAndProlonged(lock, shorter), Objects::nonNull);

        refuses(shortening);

        Lock rival = others.createLock(resource, TTL);
        assertThat(rival.tryAcquire()).isFalse();
        long end = System.nanoTime() + shorter.plusMillis(200).toNanos();
        Awaitility.await().until(() -> System.nanoTime() - end > 0);
        assertThat(rival.tryAcquire()).isFalse();
    }

    private UpdateItemRequest shortenedAndProlonged(Lock lock, Duration shorter) throws Exception {
        lock.acquire().refresh(shorter);
        UpdateItemRequest shortening = sentLast();
        lock.refresh();
        return shortening;
    }

    private static boolean isExpired(Throwable failure) {
        return failure instanceof LockLostException lost && lost.reason() == LossReason.EXPIRED;
    }

    /** The first try of the release took effect, and somebody acquires before the second. */
    @Test
    void givenTheReplyToAReleaseIsLost_whenAWaiterAcquiresBeforeTheRepetition_thenItWasTheHolder() throws Exception {
        Lock lock = locks.createLock(resource, TTL).acquire();
        Lock waiter = others.createLock(resource, TTL);
        afterNext.set(() -> assertThat(waiter.tryAcquire()).isTrue());

        assertThat(lock.release()).isTrue();

        assertThat(afterNext).hasNullValue();
        assertThat(waiter.isAcquired()).isTrue();
    }

    @Test
    void givenALateDuplicateOfAForcedRelease_whenAnotherHolds_thenItHoldsOn() throws Exception {
        Lock lock = locks.createLock(resource, TTL).acquire();
        assertThat(store.forceRelease(resource, lock.fencingToken().orElseThrow()))
                .isTrue();
        UpdateItemRequest forced = sentLast();
        Lock next = others.createLock(resource, TTL).acquire();

        refuses(forced);

        assertThat(next.isAcquired()).isTrue();
    }

    @Test
    void givenTheReplyToAForcedReleaseIsLost_whenAWaiterAcquiresBeforeTheRepetition_thenItEndedTheHold()
            throws Exception {
        Lock lock = locks.createLock(resource, TTL).acquire();
        Lock waiter = others.createLock(resource, TTL);
        afterNext.set(() -> assertThat(waiter.tryAcquire()).isTrue());

        assertThat(store.forceRelease(resource, lock.fencingToken().orElseThrow()))
                .isTrue();

        assertThat(afterNext).hasNullValue();
        assertThat(waiter.isAcquired()).isTrue();
    }

    /** DynamoDB cleans by the clock of a client: only what nobody holds. */
    @Test
    void givenHeldOrReleased_whenTheItemIsRead_thenOnlyTheReleasedOneMayBeCleaned() throws Exception {
        Lock lock = locks.createLock(resource, TTL).acquire();
        assertThat(mayBeCleaned()).isFalse();
        lock.refresh();
        assertThat(mayBeCleaned()).isFalse();
        lock.release();
        assertThat(mayBeCleaned()).isTrue();
    }

    private boolean mayBeCleaned() {
        return plain.getItem(request -> request.tableName("late")
                        .key(ItemKey.attributes(ItemKey.of(resource)))
                        .consistentRead(true))
                .item()
                .containsKey(LockItem.EXPIRES);
    }

    private UpdateItemRequest sentLast() {
        return Objects.requireNonNull(last.get());
    }

    private void refuses(UpdateItemRequest duplicate) {
        assertThatThrownBy(() -> plain.updateItem(duplicate)).isInstanceOf(ConditionalCheckFailedException.class);
    }

    /** Keeps what was sent last. What is to happen after a reply was lost happens after a first, unheard try. */
    private final class Duplicates implements ExecutionInterceptor {

        @Override
        public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
            if (context.request() instanceof UpdateItemRequest update) {
                last.set(update);
                Runnable then = afterNext.getAndSet(null);
                if (then != null) {
                    plain.updateItem(update);
                    then.run();
                }
            }
        }
    }
}
