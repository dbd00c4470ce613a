package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Who is dead, as seen by stores that know nothing of one another. */
@Execution(ExecutionMode.CONCURRENT)
class ObservationIT {

    private static final Duration LEASE = TimeLimits.ttl(Duration.ofSeconds(3));

    private final String resource = "watched-" + System.nanoTime();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private LockFactory holders = open();
    private LockFactory rivals = open();

    private LockFactory open() {
        DynamoDbStore store = Stores.open(DynamoDbServer.sharedDsn());
        LockFactory locks = new LockFactory(store);
        opened.add(locks);
        opened.add(store);
        return locks;
    }

    @BeforeEach
    void warmUp() {
        for (LockFactory each : List.of(holders, rivals)) {
            Lock lock = each.createLock("warm-up-" + resource, Fixture.LONG_TTL);
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @Test
    @Tag("slow")
    void givenAHolderRenewsLate_whenARivalWatches_thenItIsKeptOut() {
        // Where it was so late that its lease ended, nothing is said of the rival: then another holder is watched.
        Awaitility.await().until(() -> isKeptOut(resource + "-" + System.nanoTime()));
    }

    /** Whether a rival waits in vain while a holder renews late; false if its lease has ended by its own account. */
    private boolean isKeptOut(String watched) throws Exception {
        // Its half is for a renewal that comes later still.
        Duration lease = TimeLimits.ttl(Duration.ofSeconds(5));
        Lock holder = holders.createLock(watched, lease);
        assertThat(holder.tryAcquire()).isTrue();
        Lock rival = rivals.createLock(watched, Fixture.LONG_TTL);
        BackgroundCall<Boolean> waiting = BackgroundCall.start(() -> rival.tryAcquire(lease.multipliedBy(2)));
        boolean isInTime = true;
        while (isInTime && !waiting.isDone()) {
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> waiting.isDone()
                            || holder.remainingLifetime().orElseThrow().compareTo(lease.dividedBy(2)) < 0);
            isInTime = isRenewed(holder, lease);
        }
        if (!isInTime || holder.isExpired()) {
            return false;
        }
        assertThat(waiting.result()).isFalse();
        assertThat(holder.isAcquired()).isTrue();
        return true;
    }

    /** Renews; false: the lease has ended before, by the holder's own account. */
    private static boolean isRenewed(Lock holder, Duration lease) {
        try {
            holder.refresh(lease);
            return true;
        } catch (LockLostException e) {
            assertThat(e.reason()).isEqualTo(LossReason.EXPIRED);
            return false;
        }
    }

    @Test
    @Tag("slow")
    void givenAHolderHasLongBeenDead_whenARivalLooks_thenRefusedAtOnceAndGrantedAfterItHasWatchedForTheLease()
            throws Exception {
        long token = leaveADeadHolder();
        Lock rival = rivals.createLock(resource, Fixture.LONG_TTL);
        long firstLook = System.nanoTime();

        assertThat(rival.tryAcquire()).isFalse();
        assertThat(rival.tryAcquire(LEASE.plus(TimeLimits.LIMIT))).isTrue();

        Duration watched = Duration.ofNanos(System.nanoTime() - firstLook);
        assertThat(watched).isBetween(LEASE, LEASE.plus(TimeLimits.LIMIT));
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    /** What was seen at one attempt counts at the next. */
    @Test
    @Tag("slow")
    void givenADeadHolderWasSeenALeaseAgo_whenAskedOnceMore_thenGrantedAtOnce() throws Exception {
        long token = leaveADeadHolder();
        Lock rival = rivals.createLock(resource, Fixture.LONG_TTL);
        assertThat(rival.tryAcquire()).isFalse();
        awaitALease();

        assertThat(rival.tryAcquire()).isTrue();

        assertThat(rival.fencingToken()).hasValue(token + 1);
    }

    /** Both have watched the same version for long enough; the one that is later finds another. */
    @Test
    @Tag("slow")
    void givenTwoHaveWatchedADeadHolder_whenBothTakeOver_thenOneHolds() throws Exception {
        leaveADeadHolder();
        Lock one = rivals.createLock(resource, Fixture.LONG_TTL);
        Lock other = open().createLock(resource, Fixture.LONG_TTL);
        assertThat(one.tryAcquire()).isFalse();
        assertThat(other.tryAcquire()).isFalse();
        awaitALease();

        BackgroundCall<Boolean> first = BackgroundCall.start(one::tryAcquire);
        BackgroundCall<Boolean> second = BackgroundCall.start(other::tryAcquire);

        assertThat(List.of(first.result(), second.result())).containsExactlyInAnyOrder(true, false);
    }

    /** A renewal that nobody has seen: the version that was watched is not there any more. */
    @Test
    @Tag("slow")
    void givenAWatchedHolderHasRenewedSince_whenTheWatchIsOver_thenItIsRefusedAndWatchesAnew() throws Exception {
        Lock holder = holders.lock(resource).ttl(LEASE).create();
        Lock rival = rivals.createLock(resource, Fixture.LONG_TTL);
        // Again where so much time passes that the lease ends before it is renewed.
        Awaitility.await().until(() -> {
            assertThat(holder.tryAcquire()).isTrue();
            assertThat(rival.tryAcquire()).isFalse();
            return isRenewed(holder, LEASE.multipliedBy(20));
        });
        awaitALease();

        assertThat(rival.tryAcquire()).isFalse();

        assertThat(holder.isAcquired()).isTrue();
    }

    /** Its lease is over by its own account when this returns. */
    private long leaveADeadHolder() throws Exception {
        Lock dead = holders.lock(resource).ttl(LEASE).withoutAutoRelease().create();
        assertThat(dead.tryAcquire()).isTrue();
        // To a store that has not looked before, its lease begins now.
        long token = open().holders(resource).get(0).fencingToken().orElseThrow();
        awaitALease();
        return token;
    }

    private static void awaitALease() {
        long end = System.nanoTime() + LEASE.plusMillis(200).toNanos();
        Awaitility.await().atMost(LEASE.plus(TimeLimits.LIMIT)).until(() -> System.nanoTime() - end > 0);
    }
}
