package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.testkit.BackgroundCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What ends a wait in time, how many stand in line, and what is believed while the servers cannot be asked. */
class LimitsIT extends BehindAProxy {

    LimitsIT() {
        super("?sessionTimeout=60s");
    }

    private BackgroundCall<Lock> waitingShared(Lock lock, int lengthThen) {
        BackgroundCall<Lock> call = BackgroundCall.start(lock::acquireShared);
        awaitLine("lost-release", lengthThen);
        call.awaitWaiting();
        return call;
    }

    private void awaitLine(String resource, int length) {
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line(resource)).hasSize(length));
    }

    /** A23: the readers hold as soon as the writer gives up; its node is there until its deletion gets through. */
    @Test
    void givenTwoReadersFollowALostRelease_whenOnePromotesOnReconnection_thenNotBesideTheOther() throws Exception {
        Lock writer = locks.createLock("lost-release");
        assertThat(writer.tryAcquire()).isTrue();
        String node = nodes.line("lost-release").get(0);
        Lock one = locks.createLock("lost-release");
        Lock two = locks.createLock("lost-release");
        BackgroundCall<Lock> first = waitingShared(one, 2);
        BackgroundCall<Lock> second = waitingShared(two, 3);
        AtomicBoolean loses = new AtomicBoolean(true);
        loseRequests(node, loses);
        assertThatThrownBy(writer::release).isInstanceOf(LockStorageException.class);
        assertThat(first.result().isExpired()).isFalse();
        assertThat(second.result().isExpired()).isFalse();
        assertThat(nodes.line("lost-release")).contains(node);

        // The connection breaks at each attempt to delete the node, and may break just then.
        Awaitility.await()
                .atMost(LIMIT)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(one.tryAcquire()).isFalse());

        assertThat(nodes.line("lost-release")).contains(node);
        loses.set(false);
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("lost-release")).doesNotContain(node));
        assertThat(two.isAcquired()).isTrue();
        assertThat(two.release()).isTrue();
        assertThat(one.tryAcquire()).isTrue();
    }

    private void loseRequests(String part, AtomicBoolean goesOn) {
        var unused = proxy.loseRequest(part).thenRun(() -> {
            if (goesOn.get()) {
                loseRequests(part, goesOn);
            }
        });
    }

    /** B35. Of several rounds, for the machine may stand still in one. */
    @Test
    void givenASilentNetwork_whenAPromotionIsWaitedForAMoment_thenItEndsLongBeforeAnAnswerIsGivenUp() throws Exception {
        Duration limit = Duration.ofSeconds(9);
        Duration took = promotionInASilentNetwork("promoted");
        for (int i = 0; i < 2 && took.compareTo(limit) >= 0; i++) {
            took = promotionInASilentNetwork("promoted-" + i);
        }

        assertThat(took).isLessThan(limit);
    }

    private Duration promotionInASilentNetwork(String resource) throws Exception {
        Lock lock = locks.createLock(resource);
        Awaitility.await()
                .atMost(LIMIT)
                .ignoreExceptionsInstanceOf(LockStorageException.class)
                .until(lock::tryAcquireShared);
        proxy.silence();
        long start = System.nanoTime();
        assertThatThrownBy(() -> lock.tryAcquire(Duration.ofMillis(500))).isInstanceOf(LockStorageException.class);
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        proxy.heal();
        return took;
    }

    /** B34: its place in line is not there yet. */
    @Test
    void givenOneJoinsOverAClientOfTheCaller_whenTheStoreIsClosed_thenItsWaitEnds() throws Exception {
        ZooKeeper client = Nodes.connect(proxy.address().toString(), 60_000);
        try {
            ZooKeeperStore lent = ZooKeeperStore.builder(client).build();
            Lock holder = locks.createLock("joining");
            assertThat(holder.tryAcquire()).isTrue();
            assertThat(new LockFactory(lent).createLock("warm-up").tryAcquire()).isTrue();
            proxy.delay(Duration.ofMillis(1_500));
            Lock joining = new LockFactory(lent).createLock("joining");
            BackgroundCall<Lock> call = BackgroundCall.start(() -> joining.acquire(Duration.ofMinutes(5)));
            call.awaitWaiting();

            lent.close();

            assertThatThrownBy(call::result).isInstanceOf(LockStorageException.class);
            proxy.delay(Duration.ZERO);
            awaitLine("joining", 1);
        } finally {
            proxy.delay(Duration.ZERO);
            client.close();
        }
    }

    /** B26: who joins a line reads it, so it must not grow with the threads of a process. */
    @Test
    void givenManyWaitInOneProcess_thenFewStandInLineAndAreServedInOrder() throws Exception {
        int many = 200;
        Lock holder = locks.createLock("many");
        assertThat(holder.tryAcquire()).isTrue();
        List<Integer> served = new CopyOnWriteArrayList<>();
        List<BackgroundCall<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            int number = i;
            BackgroundCall<Boolean> call = BackgroundCall.start(() -> {
                Lock lock = number % 10 == 9
                        ? locks.createLock("many").acquireShared()
                        : locks.createLock("many").acquire();
                served.add(number);
                return lock.release();
            });
            if (i < LocalWaitQueue.PLACES) {
                awaitLine("many", i + 2);
            }
            call.awaitWaiting();
            waiting.add(call);
        }
        int longest = nodes.line("many").size();

        assertThat(holder.release()).isTrue();

        for (BackgroundCall<Boolean> call : waiting) {
            assertThat(call.result()).isTrue();
        }
        assertThat(longest).isEqualTo(LocalWaitQueue.PLACES + 1);
        assertThat(served).hasSize(many);
        // Those who are let in may be overtaken on their way to the servers, by more on a busy machine, and by all if
        // one stands still there.
        int most = 3 * LocalWaitQueue.PLACES;
        assertThat(IntStream.range(0, many).filter(i -> Math.abs(served.get(i) - i) > most))
                .as("of %s", served)
                .hasSizeLessThan(many / 20);
        awaitLine("many", 0);
    }

    @Test
    void givenManyWaitInOneProcess_whenTheyAreInterruptedOrOver_thenNobodyIsForgotten() throws Exception {
        Lock holder = locks.createLock("leaving");
        assertThat(holder.tryAcquire()).isTrue();
        List<BackgroundCall<Lock>> interrupted = new ArrayList<>();
        for (int i = 0; i < 2 * LocalWaitQueue.PLACES; i++) {
            BackgroundCall<Lock> call = BackgroundCall.start(locks.createLock("leaving")::acquire);
            call.awaitWaiting();
            interrupted.add(call);
        }
        awaitLine("leaving", LocalWaitQueue.PLACES + 1);
        assertThat(locks.createLock("leaving").tryAcquire(Duration.ofMillis(50)))
                .isFalse();
        BackgroundCall<Lock> last = BackgroundCall.start(locks.createLock("leaving")::acquire);
        last.awaitWaiting();

        interrupted.forEach(BackgroundCall::interrupt);
        for (BackgroundCall<Lock> call : interrupted) {
            assertThatThrownBy(call::result).isInstanceOf(InterruptedException.class);
        }
        awaitLine("leaving", 2);
        assertThat(holder.release()).isTrue();

        assertThat(last.result().isAcquired()).isTrue();
    }

    /** The first of them has its turn by then, and no hold yet. */
    @Test
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    void givenManyWaitInOneProcess_whenTheSessionEndsAsTheirTurnComes_thenAllGoOnInTheNextSession() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        ZooKeeper second = Nodes.connect(server.address().toString(), 60_000);
        ZooKeeper first = new ZooKeeper(server.address().toString(), 60_000, event -> {}) {
            @Override
            public States getState() {
                return ended.get() ? States.CLOSED : super.getState();
            }
        };
        try (ZooKeeperStore lent =
                ZooKeeperStore.builder(() -> ended.get() ? second : first).build()) {
            LockFactory lenders = new LockFactory(lent);
            Lock holder = lenders.createLock("turn");
            assertThat(holder.tryAcquire()).isTrue();
            List<BackgroundCall<Boolean>> waiting = new ArrayList<>();
            for (int i = 0; i < LocalWaitQueue.PLACES + 2; i++) {
                BackgroundCall<Boolean> call = BackgroundCall.start(
                        () -> lenders.createLock("turn").acquire().release());
                awaitLine("turn", Math.min(i, LocalWaitQueue.PLACES - 1) + 2);
                call.awaitWaiting();
                waiting.add(call);
            }

            ended.set(true);
            assertThat(holder.release()).isTrue();

            for (BackgroundCall<Boolean> call : waiting) {
                assertThat(call.result()).isTrue();
            }
        } finally {
            first.close();
            second.close();
        }
    }

    @Test
    void givenManyWaitInOneProcess_whenTheStoreIsClosed_thenAllWaitsEnd() {
        ZooKeeperStore other = Stores.open(server.address(), "");
        Lock holder = locks.createLock("closing");
        assertThat(holder.tryAcquire()).isTrue();
        LockFactory others = new LockFactory(other);
        List<BackgroundCall<Lock>> waiting = new ArrayList<>();
        for (int i = 0; i < 2 * LocalWaitQueue.PLACES; i++) {
            BackgroundCall<Lock> call = BackgroundCall.start(others.createLock("closing")::acquire);
            call.awaitWaiting();
            waiting.add(call);
        }

        other.close();

        for (BackgroundCall<Lock> call : waiting) {
            assertThatThrownBy(call::result).isInstanceOf(LockStorageException.class);
        }
    }
}
