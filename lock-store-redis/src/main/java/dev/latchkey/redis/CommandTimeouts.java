package dev.latchkey.redis;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Fails requests that are not answered in time and that no thread waits for. Those that were sent within the same moment share a
 * timer, because each timer wakes a thread.
 */
final class CommandTimeouts {

    private static final long MOMENT_NANOS = Duration.ofMillis(100).toNanos();

    private final long limitNanos;
    private volatile @Nullable Moment moment;

    CommandTimeouts(Duration limit) {
        this.limitNanos = limit.toNanos();
    }

    /** Makes the future fail with a {@link TimeoutException} a little after the limit, if it is not complete by then. */
    <T> CompletableFuture<T> on(CompletableFuture<T> answer) {
        moment().add(answer);
        return answer;
    }

    private Moment moment() {
        Moment last = moment;
        long now = System.nanoTime();
        if (last == null || now - last.lastNanos >= 0) {
            last = new Moment(now + MOMENT_NANOS);
            moment = last;
            Executor later =
                    CompletableFuture.delayedExecutor(limitNanos + MOMENT_NANOS, TimeUnit.NANOSECONDS, Runnable::run);
            later.execute(last::end);
        }
        return last;
    }

    private static final class Moment {

        private final long lastNanos;
        private final AtomicLong numbers = new AtomicLong();
        private final Map<Long, CompletableFuture<?>> unanswered = new ConcurrentHashMap<>();
        private volatile boolean ended;

        Moment(long lastNanos) {
            this.lastNanos = lastNanos;
        }

        void add(CompletableFuture<?> answer) {
            Long number = numbers.incrementAndGet();
            unanswered.put(number, answer);
            var unused = answer.whenComplete((reply, failure) -> unanswered.remove(number));
            if (ended) {
                end();
            }
        }

        void end() {
            ended = true;
            unanswered.values().forEach(answer -> answer.completeExceptionally(new TimeoutException()));
        }
    }
}
