package dev.latchkey.combined;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Collects the answers of members asked in parallel until they are enough. Who waits does so whether its thread is
 * interrupted or not, and keeps the flag.
 */
final class MemberResponses<T> {

    /** One member's answer, or its failure. */
    record Answer<T>(
            Member member, @Nullable T value, @Nullable Throwable failure) {}

    private final int total;
    private final Consumer<Answer<T>> late;
    private final ReentrantLock guard = new ReentrantLock();
    private final Condition arrived = guard.newCondition();
    private final List<Answer<T>> answers = new ArrayList<>();
    private @Nullable Predicate<List<Answer<T>>> enough;
    private boolean closed;

    /** The last argument gets what comes after {@link #await} has returned. */
    MemberResponses(int total, Consumer<Answer<T>> late) {
        this.total = total;
        this.late = late;
    }

    void expect(Member member, CompletionStage<T> answer) {
        answer.whenComplete((value, failure) -> arrive(new Answer<>(
                member,
                value,
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure)));
    }

    /** Wakes who waits only when it has nothing more to wait for: each wake-up costs as much as half a round trip. */
    private void arrive(Answer<T> answer) {
        guard.lock();
        try {
            if (!closed) {
                answers.add(answer);
                if (isOver()) {
                    arrived.signalAll();
                }
                return;
            }
        } finally {
            guard.unlock();
        }
        late.accept(answer);
    }

    private boolean isOver() {
        return answers.size() == total || (enough != null && enough.test(answers));
    }

    /**
     * Returns the answers there were when they were enough, all were there, or the time was over. What says so looks at the
     * answers alone: it is asked by the threads that bring them.
     */
    List<Answer<T>> await(Predicate<List<Answer<T>>> whenEnough, long endNanos) {
        boolean interrupted = false;
        guard.lock();
        try {
            enough = whenEnough;
            while (!isOver()) {
                long left = endNanos - System.nanoTime();
                if (left <= 0) {
                    break;
                }
                try {
                    boolean unused = arrived.await(left, TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            closed = true;
            return List.copyOf(answers);
        } finally {
            guard.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
