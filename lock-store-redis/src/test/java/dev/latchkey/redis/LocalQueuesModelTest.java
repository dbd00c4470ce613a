package dev.latchkey.redis;

import static dev.latchkey.testkit.Requests.exclusive;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.latchkey.Key;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * A waiter at home is taken along, asks or gives up, and never two of these at once; whoever is behind one that gives up is told.
 * In hundreds of interleavings of two threads, by the model checker of Lincheck, as in {@link WaiterRegistryModelTest}.
 */
@Tag("model")
class LocalQueuesModelTest {

    private static final int INTERLEAVINGS = 500;
    private static final String RESOURCE = "report";
    private static final int GENERATION = 1;

    @TestFactory
    Stream<DynamicTest> givenTwoThreads_thenAWaiterAtHomeIsTakenAlongOrAsksOrGivesUp() {
        Map<String, Consumer<Home>> operations = Map.of(
                "a release", x -> x.release(),
                "the end of its time at home", x -> x.ask(),
                "the end of the wait", x -> x.endWait(),
                "the end of the wait before it", x -> x.endFirst(),
                "a time from the server", x -> x.noteTime());
        List<Map.Entry<String, Consumer<Home>>> all = List.copyOf(new TreeMap<>(operations).entrySet());
        return IntStream.range(0, all.size())
                .boxed()
                .flatMap(first -> all.stream().skip(first).map(second -> test(all.get(first), second)));
    }

    private static DynamicTest test(Map.Entry<String, Consumer<Home>> first, Map.Entry<String, Consumer<Home>> second) {
        return DynamicTest.dynamicTest(
                first.getKey() + " beside " + second.getKey(),
                () -> run(() -> new Home(true), first.getValue(), second.getValue()));
    }

    /** The model checker has to see what it is run for. */
    @Test
    void givenAReleaseThatIsOverBeforeItsReply_thenFound() {
        assertThatExceptionOfType(LincheckAssertionError.class)
                .isThrownBy(() -> run(() -> new Home(false), x -> x.release(), x -> x.endWait()))
                .withMessageContaining("granted after it has left");
    }

    private static void run(Supplier<Home> fresh, Consumer<Home> one, Consumer<Home> other) {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Home shared = fresh.get();
            Thread first = new Thread(() -> one.accept(shared));
            Thread second = new Thread(() -> other.accept(shared));
            first.start();
            second.start();
            join(first);
            join(second);
            shared.check();
        });
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the two threads of an interleaving share: one that has asked, and one at home behind it. */
    private static final class Home {

        private final boolean isReplyAwaited;
        private final LocalQueues queues = new LocalQueues(Duration.ofHours(1));
        private final LocalQueues.Place first = queues.place(attempt("1.1"));
        private final LocalQueues.Place place = queues.place(attempt("1.2"));
        private final AtomicBoolean isTakenAlong = new AtomicBoolean();
        private final AtomicInteger granted = new AtomicInteger();
        private final AtomicInteger undone = new AtomicInteger();
        private final AtomicBoolean hasAsked = new AtomicBoolean();
        private final AtomicBoolean hasLeft = new AtomicBoolean();
        private final AtomicBoolean hasFirstLeft = new AtomicBoolean();
        private final AtomicInteger told = new AtomicInteger();

        Home(boolean isReplyAwaited) {
            this.isReplyAwaited = isReplyAwaited;
            RecordingWaiter nobody = new RecordingWaiter("1.1", new AtomicInteger());
            if (first.join(nobody, NotificationChannel.Push.NONE, GENERATION)) {
                throw new IllegalStateException("the first is at home");
            }
            noteTime();
            if (!place.join(new RecordingWaiter("1.2", told), NotificationChannel.Push.NONE, GENERATION)) {
                throw new IllegalStateException("the second is not at home");
            }
        }

        private static LockAttempt attempt(String name) {
            return new LockAttempt(
                    new Requests(new KeyNames("lock:"), Duration.ofMinutes(1), "1"), exclusive(Key.of(RESOURCE)), name);
        }

        /** By the one before it, which has been granted the lock. The server grants it to the one taken along. */
        void release() {
            if (hasFirstLeft.compareAndSet(false, true)) {
                first.leave(true);
            }
            queues.takeAlong(RESOURCE).ifPresent(next -> {
                isTakenAlong.set(true);
                if (!isReplyAwaited) {
                    next.answered();
                }
                if (hasLeft.get()) {
                    throw new IllegalStateException("granted after it has left");
                }
                granted.incrementAndGet();
                isTakenAlong.set(false);
                next.answered();
                next.leaveHome();
            });
        }

        void ask() {
            if (place.mayAsk()) {
                if (isTakenAlong.get()) {
                    throw new IllegalStateException("asks while a release takes it along");
                }
                hasAsked.set(true);
            }
        }

        void endWait() {
            if (place.awaitAnswer(Duration.ofHours(1))) {
                undone.set(granted.get());
            }
            hasLeft.set(true);
            place.leave(false);
        }

        void endFirst() {
            if (hasFirstLeft.compareAndSet(false, true)) {
                first.leave(false);
            }
        }

        void noteTime() {
            place.noteTime(new QueuePosition(System.nanoTime(), 1_000_000, GENERATION));
        }

        void check() {
            if (hasLeft.get() && undone.get() < granted.get()) {
                throw new IllegalStateException("granted after it has left");
            }
            boolean goesOn = hasAsked.get() || hasLeft.get() || granted.get() > 0 || told.get() > 0;
            if (hasFirstLeft.get() && !goesOn && queues.takeAlong(RESOURCE).isEmpty()) {
                throw new IllegalStateException("nobody takes it along, and it is not told to ask");
            }
        }
    }

    /** Counts how often it is told to ask. */
    private record RecordingWaiter(String attempt, AtomicInteger told) implements Waiter {

        @Override
        public String resource() {
            return RESOURCE;
        }

        @Override
        public String token() {
            return "token";
        }

        @Override
        public boolean isGranted() {
            return false;
        }

        @Override
        public boolean isGrantedInTurn() {
            return false;
        }

        @Override
        public void granted(Grant grant) {
            throw new IllegalStateException("nobody passes it on");
        }

        @Override
        public void granted(Grant grant, QueuePosition position) {
            throw new IllegalStateException("nobody passes it on");
        }

        @Override
        public void queued(QueuePosition position, long millisToLeaseEnd) {
            throw new IllegalStateException("nobody passes it on");
        }

        @Override
        public void askAgain() {
            throw new IllegalStateException("nobody asks it to");
        }

        @Override
        public void leaveHome() {
            told.incrementAndGet();
        }

        @Override
        public void fail() {
            throw new IllegalStateException("nobody closes the store");
        }

        @Override
        public void leave() {
            throw new IllegalStateException("it is in no registry");
        }

        @Override
        public void giveBack() {
            throw new IllegalStateException("it is in no registry");
        }
    }
}
