package dev.latchkey;

import dev.latchkey.LocalWaitQueue.LocalWaiter;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A wait ends once there is a reason for it, whichever of the two comes first. */
@Tag("model")
class LocalWaitQueueModelTest {

    private static final Deadline FAR = Deadline.in(Duration.ofHours(1));
    private static final long LONG_NANOS = Duration.ofHours(1).toNanos();
    private static final Response.Granted GRANTED =
            new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(1), Lease.endless());

    @TestFactory
    Stream<DynamicTest> givenAReasonToEndTheWaitOfTheHead_thenItEnds() {
        return new Interleavings<>(500, () -> new Line(), x -> x.check())
                .beside(
                        x -> x.await(),
                        Map.of(
                                "a release elsewhere", line -> line.queue.released("x"),
                                "a release here that hands off the hold", line -> line.release(w -> w.handOff(GRANTED)),
                                "a release here that hands off nothing", line -> line.release(w -> w.passNothing()),
                                "a release here without an answer", line -> line.release(w -> w.leaveInDoubt()),
                                "its withdrawal", line -> line.withdrawn.complete(null)));
    }

    @Test
    void givenTheOneBeforeLeaves_thenTheWaitOfTheNextEnds() {
        new Interleavings<>(500, () -> new LineOfTwo(), x -> x.check()).run(x -> x.await(), x -> x.headLeaves());
    }

    private static LocalWaiter join(LocalWaitQueue queue, CompletableFuture<Void> withdrawn) {
        return queue.join(
                new Request(Key.of("x"), LockMode.EXCLUSIVE, Duration.ofSeconds(30), RetryIntent.AGAIN), withdrawn);
    }

    private static void awaitAndLeave(LocalWaiter waiter) {
        try (waiter) {
            boolean unused = waiter.awaitTurn(LONG_NANOS, FAR);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void checkEmpty(LocalWaitQueue queue) {
        if (queue.waiters() != 0) {
            throw new IllegalStateException("somebody is left in the line");
        }
    }

    /** One waiter. */
    private static final class Line {

        private final LocalWaitQueue queue = new LocalWaitQueue();
        private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        private final LocalWaiter waiter = join(queue, withdrawn);

        void await() {
            awaitAndLeave(waiter);
        }

        /** As the engine does it: whoever cannot be chosen is woken. */
        void release(Consumer<LocalWaiter> answer) {
            queue.choose("x").ifPresent(answer);
            queue.released("x");
        }

        void check() {
            checkEmpty(queue);
        }
    }

    /** A head, and the next in line. */
    private static final class LineOfTwo {

        private final LocalWaitQueue queue = new LocalWaitQueue();
        private final LocalWaiter head = join(queue, new CompletableFuture<>());
        private final LocalWaiter next = join(queue, new CompletableFuture<>());

        void await() {
            awaitAndLeave(next);
        }

        void headLeaves() {
            head.close();
        }

        void check() {
            checkEmpty(queue);
        }
    }
}
