package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.latchkey.LockListener.Change;
import dev.latchkey.LockListener.End;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.spi.Request;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What listeners of a factory hear. */
class LockListenerTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private final Heard heard = new Heard();
    private final InMemoryStore store = new InMemoryStore();
    private final LockFactory locks = LockFactory.builder(store).listener(heard).build();

    @AfterEach
    void close() {
        heard.gate.countDown();
        locks.close();
    }

    @Test
    void givenAcquireAndRelease_thenEachIsHeardOnceInItsOrder() {
        Lock lock = locks.createLock("orders", TTL);

        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();

        heard.awaitLast(LockListener.Released.class);
        assertThat(heard.withoutStoreCalls())
                .containsExactly("Acquiring", "Held", "Acquired BEGUN EXCLUSIVE", "Released RELEASED");
        assertThat(heard.of(LockListener.StoreCalled.class))
                .extracting(LockListener.StoreCalled::operation)
                .containsExactly(Operation.ACQUIRE, Operation.RELEASE);
    }

    @Test
    void givenReacquirePromotionAndDemotion_thenOneHold() throws Exception {
        Lock lock = locks.createLock("orders", TTL);

        assertThat(lock.tryAcquireShared()).isTrue();
        assertThat(lock.tryAcquireShared()).isTrue();
        lock.acquire();
        lock.acquireShared();
        lock.refresh();
        lock.close();

        heard.awaitLast(LockListener.Released.class);
        assertThat(heard.withoutStoreCalls())
                .containsExactly(
                        "Acquiring",
                        "Held",
                        "Acquired BEGUN SHARED",
                        "Acquiring",
                        "Acquired RENEWED SHARED",
                        "Acquiring",
                        "Acquired PROMOTED EXCLUSIVE",
                        "Acquiring",
                        "Acquired DEMOTED SHARED",
                        "Renewed",
                        "Released RELEASED");
    }

    @Test
    void givenHeldByAnother_thenConflicted() throws Exception {
        Lock holder = locks.createLock("orders", TTL);
        holder.acquire();

        assertThat(locks.createLock("orders", TTL).tryAcquire()).isFalse();
        assertThat(locks.createLock("orders", TTL).tryAcquire(Duration.ofMillis(20)))
                .isFalse();

        await().atMost(LIMIT)
                .until(() -> heard.of(LockListener.Conflicted.class).size() == 2);
        assertThat(heard.of(LockListener.Conflicted.class).get(1).waited()).isGreaterThan(Duration.ofMillis(20));
    }

    @Test
    void givenInterrupt_thenFailed() throws Exception {
        locks.createLock("orders", TTL).acquire();
        Thread waiter = new Thread(() -> assertThatExceptionOfType(InterruptedException.class)
                .isThrownBy(() -> locks.createLock("orders", TTL).acquire()));
        waiter.start();
        await().atMost(LIMIT).until(() -> heard.of(LockListener.Acquiring.class).size() == 2);

        waiter.interrupt();
        waiter.join();

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(heard.of(LockListener.Failed.class))
                        .singleElement()
                        .satisfies(event -> assertThat(event.failure()).isInstanceOf(InterruptedException.class)));
    }

    @Test
    void givenLeaseThatEnds_whenNobodyLooks_thenLost() {
        assertThat(locks.createLock("orders", Duration.ofMillis(50)).tryAcquire())
                .isTrue();

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(heard.of(LockListener.Lost.class))
                        .singleElement()
                        .satisfies(event -> assertThat(event.reason()).isEqualTo(LossReason.EXPIRED)));
    }

    @Test
    void givenLoss_whenReleasedAfterIt_thenTheEndIsHeardOnce() {
        Lock lock = locks.createLock("orders", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        store.delete(lock.key());

        assertThat(lock.release()).isFalse();
        assertThat(lock.release()).isFalse();

        heard.awaitLast(LockListener.Lost.class);
        assertThat(heard.withoutStoreCalls())
                .containsExactly("Acquiring", "Held", "Acquired BEGUN EXCLUSIVE", "Lost RELEASED_ELSEWHERE");
    }

    @Test
    void givenKeyThatIsTransferred_thenOneHoldEndsAndTheOtherBegins() {
        Lock lock = locks.createLock("orders", TTL);
        assertThat(lock.tryAcquire()).isTrue();

        Lock received = locks.createLock(lock.transferKey(), TTL);
        received.refresh();
        assertThat(received.release()).isTrue();

        await().atMost(LIMIT).until(() -> heard.of(LockListener.Released.class).size() == 2);
        assertThat(heard.withoutStoreCalls())
                .containsExactly(
                        "Acquiring",
                        "Held",
                        "Acquired BEGUN EXCLUSIVE",
                        "Released TRANSFERRED",
                        "Held",
                        "Released RELEASED");
    }

    @Test
    void givenReceivedKey_whenAcquired_thenAdopted() {
        Lock lock = locks.createLock("orders", TTL);
        assertThat(lock.tryAcquire()).isTrue();

        Lock received = locks.createLock(lock.transferKey(), TTL);
        assertThat(received.tryAcquire()).isTrue();

        await().atMost(LIMIT).until(() -> heard.of(LockListener.Acquired.class).size() == 2);
        assertThat(heard.of(LockListener.Acquired.class))
                .extracting(LockListener.Acquired::change)
                .containsExactly(Change.BEGUN, Change.ADOPTED);
        assertThat(heard.of(LockListener.Held.class)).hasSize(2);
    }

    @Test
    void givenClose_thenWhatIsReleasedAndLeftIsHeard() {
        assertThat(locks.createLock("released", TTL).tryAcquire()).isTrue();
        assertThat(locks.lock("left").withoutAutoRelease().create().tryAcquire())
                .isTrue();

        locks.close();

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(heard.of(LockListener.Released.class))
                        .extracting(LockListener.Released::end)
                        .containsExactlyInAnyOrder(End.RELEASED, End.LEFT));
    }

    /** Also where the close comes before anybody has looked. */
    @Test
    void givenLeaseThatIsOver_whenClosedAndLeft_thenLost() {
        assertThat(locks.lock("left")
                        .ttl(Duration.ofMillis(50))
                        .withoutAutoRelease()
                        .create()
                        .tryAcquire())
                .isTrue();
        await().until(() -> store.holders("left").isEmpty());

        locks.close();

        heard.awaitLast(LockListener.Lost.class);
        assertThat(heard.of(LockListener.Released.class)).isEmpty();
    }

    @Test
    void givenListenerThatThrows_thenOthersHear() {
        try (LockFactory other = LockFactory.builder(store)
                .listener(new Throwing())
                .listener(heard)
                .build()) {
            assertThat(other.createLock("orders", TTL).tryAcquire()).isTrue();
        }

        heard.awaitLast(LockListener.Released.class);
        assertThat(heard.of(LockListener.Acquired.class)).hasSize(1);
    }

    @Test
    void givenListenerThatBlocks_thenNobodyWaitsForIt() throws Exception {
        CountDownLatch lost = new CountDownLatch(1);
        LockListener blocking = new LockListener() {
            @Override
            public void acquiring(Acquiring event) {
                try {
                    heard.gate.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        try (LockFactory other = LockFactory.builder(store).listener(blocking).build()) {
            Lock lock = other.createLock("orders", TTL);
            for (int i = 0; i < 100; i++) {
                assertThat(lock.tryAcquire()).isTrue();
                assertThat(lock.release()).isTrue();
            }
            Lock brief = other.lock("orders")
                    .ttl(Duration.ofMillis(100))
                    .onLost(reason -> lost.countDown())
                    .create();
            assertThat(brief.tryAcquire()).isTrue();

            lost.await();
        }
    }

    @Test
    void givenListenerThatUsesTheSameLock_thenItCan() {
        CopyOnWriteArrayList<Boolean> acquired = new CopyOnWriteArrayList<>();
        Lock[] same = new Lock[1];
        LockListener using = new LockListener() {
            @Override
            public void released(Released event) {
                if (acquired.isEmpty()) {
                    acquired.add(same[0].tryAcquire());
                    acquired.add(same[0].release());
                }
            }
        };
        try (LockFactory other = LockFactory.builder(store).listener(using).build()) {
            same[0] = other.createLock("orders", TTL);
            assertThat(same[0].tryAcquire()).isTrue();
            assertThat(same[0].release()).isTrue();

            await().atMost(LIMIT).untilAsserted(() -> assertThat(acquired).containsExactly(true, true));
        }
    }

    @Test
    void givenListenerThatClosesTheFactory_thenItIsClosed() {
        LockFactory[] closed = new LockFactory[1];
        CountDownLatch done = new CountDownLatch(1);
        LockListener closing = new LockListener() {
            @Override
            public void acquired(Acquired event) {
                closed[0].close();
                done.countDown();
            }
        };
        closed[0] = LockFactory.builder(store).listener(closing).build();
        Lock lock = closed[0].createLock("orders", TTL);
        assertThat(lock.tryAcquire()).isTrue();

        await().atMost(LIMIT).until(() -> done.getCount() == 0);
        assertThat(lock.isExpired() || !lock.isAcquired()).isTrue();
    }

    @Test
    void givenOwner_thenItIsChecked() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.builder(store).owner("two\nlines"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.builder(store).owner(" "));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.builder(store).owner("half of a letter: \uD83D"));
    }

    /** All stores keep names of this length. */
    @Test
    void givenLongOwner_thenWhatStoresKeepIsTheLimit() {
        String longest = "\u00fc".repeat(Request.MAX_OWNER_BYTES / 2);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.builder(store).owner(longest + "x"))
                .withMessageContaining("at most 256 bytes")
                .withMessageContaining("257 bytes");
        LockFactory.builder("in-memory").owner(longest).build().close();
    }

    /** Whoever counts what begins and ends comes to the right numbers again. */
    @Test
    void givenMoreEventsThanAreKept_whenTheListenerReturns_thenEachBeginHasItsEndAndTheRestIsCounted() {
        Counting counting = new Counting();
        int cycles = 40_000;
        try (LockFactory other = LockFactory.builder(store).listener(counting).build()) {
            Lock early = other.createLock("early", TTL);
            assertThat(early.tryAcquire()).isTrue();
            Lock lock = other.createLock("orders", TTL);
            for (int i = 0; i < cycles; i++) {
                assertThat(lock.tryAcquire()).isTrue();
                assertThat(lock.release()).isTrue();
            }
            Lock late = other.createLock("late", TTL);
            assertThat(late.tryAcquire()).isTrue();
            assertThat(early.release()).isTrue();

            counting.gate.countDown();
            await().until(() -> counting.dropped.get() > 0);
            assertThat(late.release()).isTrue();

            // Six for each cycle: acquiring, acquired, held, released, and two calls to the store.
            long all = 6L * (cycles + 2);
            await().until(() -> counting.heard.get() + counting.dropped.get() == all);
            assertThat(counting.dropped.get()).isGreaterThan(all - 101_000);
            assertThat(counting.held.get()).isZero();
            assertThat(counting.asking.get()).isZero();
        }
    }

    /** Counts what is heard once its gate is open. */
    private static final class Counting implements LockListener {

        private final CountDownLatch gate = new CountDownLatch(1);
        private final AtomicLong heard = new AtomicLong();
        private final AtomicLong dropped = new AtomicLong();
        private final AtomicLong held = new AtomicLong();
        private final AtomicLong asking = new AtomicLong();

        @Override
        public void acquiring(Acquiring event) {
            try {
                gate.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            heard.incrementAndGet();
            asking.incrementAndGet();
        }

        @Override
        public void acquired(Acquired event) {
            heard.incrementAndGet();
            asking.decrementAndGet();
        }

        @Override
        public void held(Held event) {
            heard.incrementAndGet();
            held.incrementAndGet();
        }

        @Override
        public void released(Released event) {
            heard.incrementAndGet();
            held.decrementAndGet();
        }

        @Override
        public void storeCalled(StoreCalled event) {
            heard.incrementAndGet();
        }

        @Override
        public void dropped(Dropped event) {
            dropped.addAndGet(event.events());
        }
    }

    private static final class Throwing implements LockListener {

        @Override
        public void acquired(Acquired event) {
            throw new IllegalStateException("planted");
        }

        @Override
        public void held(Held event) {
            throw new AssertionError("planted");
        }
    }

    private static final class Heard implements LockListener {

        private final CountDownLatch gate = new CountDownLatch(1);
        private final List<Object> events = new CopyOnWriteArrayList<>();

        @Override
        public void acquiring(Acquiring event) {
            events.add(event);
        }

        @Override
        public void acquired(Acquired event) {
            events.add(event);
        }

        @Override
        public void conflicted(Conflicted event) {
            events.add(event);
        }

        @Override
        public void failed(Failed event) {
            events.add(event);
        }

        @Override
        public void held(Held event) {
            events.add(event);
        }

        @Override
        public void released(Released event) {
            events.add(event);
        }

        @Override
        public void lost(Lost event) {
            events.add(event);
        }

        @Override
        public void renewed(Renewed event) {
            events.add(event);
        }

        @Override
        public void storeCalled(StoreCalled event) {
            events.add(event);
        }

        <T> List<T> of(Class<T> type) {
            return events.stream().filter(type::isInstance).map(type::cast).toList();
        }

        void awaitLast(Class<?> type) {
            await().atMost(LIMIT).until(() -> events.stream().anyMatch(type::isInstance));
        }

        List<String> withoutStoreCalls() {
            return events.stream()
                    .filter(event -> !(event instanceof StoreCalled))
                    .map(Heard::text)
                    .toList();
        }

        private static String text(Object event) {
            String name = event.getClass().getSimpleName();
            if (event instanceof Acquired acquired) {
                return name + " " + acquired.change() + " " + acquired.mode();
            }
            if (event instanceof Released released) {
                return name + " " + released.end();
            }
            return event instanceof Lost lost ? name + " " + lost.reason() : name;
        }
    }
}
