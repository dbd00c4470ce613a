package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.latchkey.LockStorageException;
import dev.latchkey.spi.KeptHolds;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * A grant is delivered to its waiter while that waits, or given back: in thousands of interleavings of two threads, by the model
 * checker of Lincheck. An interleaving fails the test if it hangs, or if an operation or the check at its end throws.
 *
 * <p>What creates something must be a lambda expression: Lincheck does not see what a method reference creates, and would then try
 * a single interleaving.
 */
@Tag("model")
class WaiterRegistryModelTest {

    private static final int INTERLEAVINGS = 500;

    /** Opens no connection. */
    private static final ScriptRunner SERVER = new ScriptRunner(
            Connections.of(RedisClient.create("redis://localhost")),
            new Failures("server", new KeyNames("lock:")),
            Duration.ofHours(1));

    private static final Grant GRANT = new Grant(1, 1_000, 7, OptionalLong.empty());

    @TestFactory
    Stream<DynamicTest> givenTwoThreads_thenAGrantIsDeliveredOrGivenBack() {
        Map<String, Consumer<Registry>> operations = Map.of(
                "a grant by message", x -> x.grantByMessage(),
                "a grant by the reply to a release", x -> x.grantByReply(),
                "a place by the reply to a release", x -> x.queueByReply(),
                "the end of the wait", x -> x.endWait(),
                "the close of the store", x -> x.closeStore(),
                "another waiter", x -> x.addAnother(),
                "a hint to all", x -> x.hint());
        List<Map.Entry<String, Consumer<Registry>>> all = List.copyOf(new TreeMap<>(operations).entrySet());
        return IntStream.range(0, all.size())
                .boxed()
                .flatMap(first -> all.stream().skip(first).map(second -> test(all.get(first), second)));
    }

    private static DynamicTest test(
            Map.Entry<String, Consumer<Registry>> first, Map.Entry<String, Consumer<Registry>> second) {
        return DynamicTest.dynamicTest(
                first.getKey() + " beside " + second.getKey(),
                () -> run(() -> new Registry(), first.getValue(), second.getValue(), x -> x.check()));
    }

    /** The model checker has to see what it is run for. */
    @Test
    void givenARegistryThatForgetsAWaiterTooSoon_thenFound() {
        assertThatExceptionOfType(LincheckAssertionError.class)
                .isThrownBy(() -> run(() -> new Forgetful(), x -> x.grant(), x -> x.endWait(), x -> x.check()))
                .withMessageContaining("neither delivered nor given back");
    }

    private static <S> void run(Supplier<S> fresh, Consumer<S> one, Consumer<S> other, Consumer<S> check) {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            S shared = fresh.get();
            Thread first = new Thread(() -> one.accept(shared));
            Thread second = new Thread(() -> other.accept(shared));
            first.start();
            second.start();
            join(first);
            join(second);
            check.accept(shared);
        });
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the two threads of an interleaving share: a registry with one waiter. */
    private static final class Registry {

        private final WaiterRegistry registry = new WaiterRegistry(
                SERVER, "1", new KeyNames("lock:"), new ForcedReleases(new KeyNames("lock:")), new KeptHolds());
        private final OneWaiter waiter = new OneWaiter("1.1");
        private final OneWaiter another = new OneWaiter("1.2");
        private volatile boolean isClosed;
        private volatile boolean isAnotherAdded;

        Registry() {
            waiter.entry = registry.add(waiter);
        }

        void grantByMessage() {
            waiter.sent.incrementAndGet();
            registry.message("1.1 x 1 1000 7");
        }

        void grantByReply() {
            waiter.sent.incrementAndGet();
            registry.handedOver(List.of(1L, 1L, 1L, 1_000L, 7L), 0, 1);
        }

        void queueByReply() {
            waiter.queued.incrementAndGet();
            registry.handedOver(List.of(1L, 1L, 1L, 1_000L, 0L), 0, 1);
        }

        void endWait() {
            waiter.end();
        }

        void closeStore() {
            registry.close();
            isClosed = true;
        }

        void addAnother() {
            try {
                another.entry = registry.add(another);
                isAnotherAdded = true;
                if (another.hasFailed) {
                    another.end();
                }
            } catch (LockStorageException e) {
                // It does not wait.
            }
        }

        void hint() {
            registry.disconnected();
            registry.askAgain();
        }

        void check() {
            waiter.check();
            if (isClosed && !waiter.hasEnded.get()) {
                throw new IllegalStateException("a waiter goes on waiting in a store that is closed");
            }
            if (isClosed && isAnotherAdded && !another.hasEnded.get()) {
                throw new IllegalStateException("a waiter came in, and goes on waiting in a store that is closed");
            }
        }
    }

    /**
     * A wait that ends when its thread is asked to, with the lock if it has heard of a grant by then. What the server has granted
     * before it leaves, its leaving undoes. A server that another one takes over from may have forgotten that, and grant later.
     */
    private static final class OneWaiter implements Waiter {

        private final String attempt;
        private final AtomicInteger sent = new AtomicInteger();
        private final AtomicInteger queued = new AtomicInteger();
        private final AtomicInteger grants = new AtomicInteger();
        private final AtomicInteger places = new AtomicInteger();
        private final AtomicInteger undone = new AtomicInteger();
        private final AtomicInteger givenBack = new AtomicInteger();
        private final AtomicBoolean hasEnded = new AtomicBoolean();
        private volatile WaiterRegistry.@Nullable Entry entry;
        private volatile boolean isGranted;
        private volatile boolean hasFailed;

        OneWaiter(String attempt) {
            this.attempt = attempt;
        }

        void end() {
            if (hasEnded.compareAndSet(false, true)) {
                isGranted = grants.get() > 0;
                Objects.requireNonNull(entry).close();
            }
        }

        void check() {
            if (isGranted) {
                // Another message of the same grant is no news.
                if (givenBack.get() > 0) {
                    throw new IllegalStateException("delivered and given back");
                }
                return;
            }
            int settled = hasEnded.get() ? undone.get() + givenBack.get() : grants.get() + places.get();
            if (settled < sent.get() + queued.get()) {
                throw new IllegalStateException("neither delivered nor given back");
            }
        }

        @Override
        public String attempt() {
            return attempt;
        }

        @Override
        public String resource() {
            return "report";
        }

        @Override
        public String token() {
            return "token";
        }

        @Override
        public boolean isGranted() {
            return isGranted;
        }

        @Override
        public boolean isGrantedInTurn() {
            return isGranted;
        }

        @Override
        public void granted(Grant grant) {
            grants.incrementAndGet();
        }

        @Override
        public void granted(Grant grant, QueuePosition position) {
            grants.incrementAndGet();
        }

        @Override
        public void queued(QueuePosition position, long millisToLeaseEnd) {
            places.incrementAndGet();
        }

        @Override
        public void leaveHome() {
            // It asks for nothing.
        }

        @Override
        public void askAgain() {
            // It asks for nothing.
        }

        @Override
        public void fail() {
            hasFailed = true;
            if (entry != null) {
                end();
            }
        }

        @Override
        public void leave() {
            undone.set(grants.get() + places.get());
        }

        @Override
        public void giveBack() {
            givenBack.incrementAndGet();
        }
    }

    /** As the registry does it, but forgets a waiter before it remembers that it has ended. */
    private static final class Forgetful {

        private final Map<String, OneWaiter> waiting = new ConcurrentHashMap<>();
        private final Map<String, OneWaiter> ended = new ConcurrentHashMap<>();
        private final OneWaiter waiter = new OneWaiter("1.1");

        Forgetful() {
            waiting.put(waiter.attempt, waiter);
        }

        void grant() {
            waiter.sent.incrementAndGet();
            OneWaiter found = waiting.get(waiter.attempt);
            OneWaiter over = ended.get(waiter.attempt);
            if (found != null) {
                found.granted(GRANT);
            } else if (over != null) {
                over.giveBack();
            }
        }

        void endWait() {
            waiter.hasEnded.set(true);
            waiting.remove(waiter.attempt);
            ended.put(waiter.attempt, waiter);
        }

        void check() {
            waiter.undone.set(waiter.grants.get());
            waiter.check();
        }
    }
}
