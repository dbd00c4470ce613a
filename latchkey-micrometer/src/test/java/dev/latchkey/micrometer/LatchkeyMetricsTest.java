package dev.latchkey.micrometer;

import static dev.latchkey.micrometer.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockListener;
import dev.latchkey.LossReason;
import dev.latchkey.store.InMemoryStore;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the metrics say of locks. */
class LatchkeyMetricsTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final InMemoryStore store = new InMemoryStore();
    private final LockFactory locks = LockFactory.builder(store)
            .listener(LatchkeyMetrics.builder(registry)
                    .store("memory")
                    .group(resource -> resource.split("-", 2)[0])
                    .build())
            .build();

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void givenCycles_thenEachIsCountedOnce() {
        Lock lock = locks.createLock("order-4711", TTL);
        for (int i = 0; i < 10; i++) {
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();
        }

        await().atMost(LIMIT).until(() -> count("latchkey.hold", "group", "order", "end", "released") == 10);
        assertThat(count(
                        "latchkey.acquire",
                        "group",
                        "order",
                        "mode",
                        "exclusive",
                        "outcome",
                        "acquired",
                        "store",
                        "memory"))
                .isEqualTo(10);
        assertThat(count("latchkey.store.call", "operation", "acquire", "outcome", "answered"))
                .isEqualTo(10);
        assertThat(count("latchkey.store.call", "operation", "release", "outcome", "answered"))
                .isEqualTo(10);
        assertGauges(0, 0);
        assertThat(registry.getMeters().stream().map(Meter::getId).map(Object::toString))
                .noneMatch(id -> id.contains("4711"));
    }

    @Test
    void givenEventsWereDropped_thenTheyAreCounted() {
        LatchkeyMetrics metrics =
                LatchkeyMetrics.builder(registry).store("dropping").build();

        metrics.dropped(new LockListener.Dropped(7));

        assertThat(registry.get("latchkey.events.dropped")
                        .tag("store", "dropping")
                        .counter()
                        .count())
                .isEqualTo(7);
    }

    @Test
    void givenReacquirePromotionAndDemotion_thenOneIsHeld() throws Exception {
        Lock lock = locks.createLock("order-1", TTL);
        assertThat(lock.tryAcquireShared()).isTrue();
        lock.acquire().acquire();
        lock.acquireShared();

        await().atMost(LIMIT).until(() -> acquired() == 4);
        assertGauges(1, 0);

        lock.release();
        await().atMost(LIMIT).untilAsserted(() -> assertGauges(0, 0));
    }

    @Test
    void givenLossesTransfersAndClose_thenNothingIsHeldInTheEnd() throws Exception {
        Lock expires = locks.createLock("order-expires", Duration.ofMillis(20));
        // On a busy machine, it may be over before it is held.
        await().atMost(LIMIT).until(expires::tryAcquire);
        Lock gone = locks.createLock("order-gone", TTL);
        assertThat(gone.tryAcquire()).isTrue();
        store.delete(gone.key());
        assertThat(gone.isAcquired()).isFalse();
        Lock given = locks.createLock("order-given", TTL);
        assertThat(given.tryAcquire()).isTrue();
        Lock received = locks.createLock(given.transferKey(), TTL);
        received.refresh();
        assertThat(locks.lock("order-left").withoutAutoRelease().create().tryAcquire())
                .isTrue();
        assertThat(locks.createLock("order-closed", TTL).tryAcquire()).isTrue();

        await().atMost(LIMIT).until(() -> count("latchkey.hold", "end", "expired") == 1);
        await().atMost(LIMIT).untilAsserted(() -> assertGauges(3, 0));
        locks.close();

        await().atMost(LIMIT).untilAsserted(() -> {
            assertGauges(0, 0);
            assertThat(count("latchkey.hold", "end", "released_elsewhere")).isEqualTo(1);
            assertThat(count("latchkey.hold", "end", "transferred")).isEqualTo(1);
            assertThat(count("latchkey.hold", "end", "left")).isEqualTo(2);
            assertThat(count("latchkey.hold", "end", "released")).isEqualTo(1);
        });
        assertThat(count("latchkey.lease.slack")).isZero();
    }

    @Test
    void givenAWaiter_thenItIsSeenWaitingUntilItIsSentAway() throws Exception {
        locks.createLock("order-1", TTL).acquire();
        Lock waiting = locks.createLock("order-1", TTL);
        Thread waiter = new Thread(() -> waiting.acquireUninterruptibly());
        waiter.start();
        await().atMost(LIMIT).untilAsserted(() -> assertGauges(1, 1));

        locks.close();
        waiter.join();

        await().atMost(LIMIT).untilAsserted(() -> {
            assertGauges(0, 0);
            assertThat(count("latchkey.acquire", "outcome", "conflicted")).isEqualTo(1);
        });
    }

    @Test
    void givenRenewal_thenItsSlackIsRecorded() {
        Lock lock = locks.createLock("order-1", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        lock.refresh();

        await().atMost(LIMIT).until(() -> count("latchkey.lease.slack") == 1);
        assertThat(registry.get("latchkey.lease.slack").timer().max(TimeUnit.SECONDS))
                .isBetween(1.0, 30.0);
    }

    @Test
    void givenAGroupFunctionThatThrows_thenCountedWithoutAGroup() {
        SimpleMeterRegistry other = new SimpleMeterRegistry();
        LatchkeyMetrics metrics = LatchkeyMetrics.builder(other)
                .group(resource -> {
                    throw new IllegalStateException("planted");
                })
                .build();
        try (LockFactory others = LockFactory.builder(store).listener(metrics).build()) {
            assertThat(others.createLock("order-1", TTL).tryAcquire()).isTrue();
        }

        await().atMost(LIMIT)
                .until(() -> !other.find("latchkey.hold")
                        .tags("group", "none")
                        .timers()
                        .isEmpty());
    }

    /** A rate and an increase are of what was seen before: a series that begins with its first loss shows none. */
    @Test
    void givenAHoldThatIsNotLost_thenEachLossIsThereWithACountOfZero() {
        assertThat(locks.createLock("order-1", TTL).tryAcquire()).isTrue();

        await().atMost(LIMIT).untilAsserted(() -> assertGauges(1, 0));
        assertThat(LossReason.values()).allSatisfy(reason -> {
            String end = reason.name().toLowerCase(Locale.ROOT);
            assertThat(registry.get("latchkey.hold")
                            .tags("store", "memory", "group", "order", "end", end)
                            .timer()
                            .count())
                    .isZero();
        });
    }

    @Test
    void givenNoCallFailed_thenEachFailureIsThereWithACountOfZero() {
        assertThat(LockListener.Operation.values()).allSatisfy(operation -> {
            String name = operation.name().toLowerCase(Locale.ROOT);
            assertThat(registry.get("latchkey.store.call")
                            .tags("store", "memory", "operation", name, "outcome", "failed")
                            .timer()
                            .count())
                    .isZero();
        });
    }

    /** As one that was opened anew, after the first was closed. */
    @Test
    void givenAnotherFactoryWithMetricsOfItsOwn_thenTheGaugesShowWhatBothHold() {
        LatchkeyMetrics metrics = LatchkeyMetrics.builder(registry)
                .store("memory")
                .group(resource -> "order")
                .build();
        assertThat(locks.createLock("order-1", TTL).tryAcquire()).isTrue();
        await().atMost(LIMIT).untilAsserted(() -> assertGauges(1, 0));

        try (LockFactory others = LockFactory.builder(store).listener(metrics).build()) {
            assertThat(others.createLock("order-2", TTL).tryAcquire()).isTrue();
            await().atMost(LIMIT).untilAsserted(() -> assertGauges(2, 0));
            locks.close();
            await().atMost(LIMIT).untilAsserted(() -> assertGauges(1, 0));
        }

        await().atMost(LIMIT).untilAsserted(() -> assertGauges(0, 0));
    }

    /** A gauge is there as soon as the event of a first acquire has been heard. */
    private void assertGauges(int held, int waiting) {
        assertThat(gauge("latchkey.held")).as("held").isEqualTo(held);
        assertThat(gauge("latchkey.waiting")).as("waiting").isEqualTo(waiting);
    }

    private double gauge(String name) {
        return Optional.ofNullable(registry.find(name).tags("group", "order").gauge())
                .map(Gauge::value)
                .orElseThrow(() -> new AssertionError("there is no gauge " + name));
    }

    private long acquired() {
        return count("latchkey.acquire", "outcome", "acquired");
    }

    private long count(String name, String... tags) {
        return registry.find(name).tags(tags).timers().stream()
                .mapToLong(timer -> timer.count())
                .sum();
    }
}
