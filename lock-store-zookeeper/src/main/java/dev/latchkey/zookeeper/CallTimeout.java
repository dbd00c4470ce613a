package dev.latchkey.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * How long a call of a user waits for answers, and whether an interrupt or a withdrawal ends it.
 *
 * @param <X> the exception of an interrupt
 */
abstract class CallTimeout<X extends Exception> {

    private static final long SHORTEST_PAUSE_NANOS = 10_000_000;
    private static final long LONGEST_PAUSE_NANOS = 200_000_000;

    private final boolean patient;
    private final long endNanos;
    private long pauseNanos = SHORTEST_PAUSE_NANOS;

    private CallTimeout(long nanos) {
        this.patient = isPatient(nanos);
        this.endNanos = System.nanoTime() + nanos;
    }

    /** Returns whether a limit is as long as any: no answer within it is a failure of the servers. */
    static boolean isPatient(long nanos) {
        return nanos >= Failures.ANSWER_NANOS;
    }

    /** For results that must be known: an interrupt only sets the flag. */
    static CallTimeout<RuntimeException> uninterruptible(long nanos) {
        return new Uninterruptible(nanos);
    }

    /** For a wait: ended by an interrupt, and by the given future. */
    static CallTimeout<InterruptedException> interruptible(long nanos, CompletableFuture<?> stop) {
        return new Interruptible(nanos, stop);
    }

    abstract @Nullable Object get(CompletableFuture<?> one, long nanos) throws TimeoutException, ExecutionException, X;

    /** Whether the wait was withdrawn. */
    boolean isStopped() {
        return false;
    }

    final boolean isOver() {
        return isStopped() || leftNanos() <= 0;
    }

    /** Waits for an answer; {@link Reply#none()} when the limit comes first. */
    final <T> Reply<T> answer(CompletableFuture<Reply<T>> asked) throws X {
        if (!asked.isDone()) {
            await(asked, leftNanos());
        }
        return asked.isDone() ? asked.join() : Reply.none();
    }

    /**
     * Returns whether a blocking call is allowed. Only the client limits its time: when it loses the connection, or after two
     * thirds of the session timeout if the server is silent, which is too long for a short limit.
     */
    final boolean mayBlock() {
        return patient && !Thread.currentThread().isInterrupted();
    }

    /**
     * Makes a blocking call, which needs no second thread; a withdrawal or the limit does not end it.
     *
     * @return {@link Reply#none()} if an interrupt has left the result unknown
     */
    abstract <T> Reply<T> call(Blocking<T> blocking) throws X;

    /** As {@link #call}, for requests that may be repeated; asynchronous if a blocking call is not allowed. */
    final <T> Reply<T> ask(Blocking<T> blocking, Supplier<CompletableFuture<Reply<T>>> otherwise) throws X {
        Reply<T> answer = mayBlock() ? call(blocking) : Reply.none();
        return answer.is(Code.OPERATIONTIMEOUT) ? answer(otherwise.get()) : answer;
    }

    /** A call of the client that waits for the answer. */
    interface Blocking<T> {
        Reply<T> call() throws InterruptedException;
    }

    /** Pauses before the same request is repeated. */
    final void pause() throws X {
        await(new CompletableFuture<>(), Math.min(pauseNanos, leftNanos()));
        pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
    }

    /** Until then, or the limit. */
    final void pauseUntil(long nanos) throws X {
        await(new CompletableFuture<>(), Math.min(nanos - System.nanoTime(), leftNanos()));
    }

    private void await(CompletableFuture<?> one, long nanos) throws X {
        try {
            get(one, Math.max(nanos, 0));
        } catch (TimeoutException e) {
            // The caller checks whether it is done.
        } catch (ExecutionException e) {
            throw new IllegalStateException("no answer completes like that", e.getCause());
        }
    }

    private long leftNanos() {
        return endNanos - System.nanoTime();
    }

    private static final class Uninterruptible extends CallTimeout<RuntimeException> {

        Uninterruptible(long nanos) {
            super(nanos);
        }

        @Override
        <T> Reply<T> call(Blocking<T> blocking) {
            try {
                return blocking.call();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Reply.none();
            }
        }

        @Override
        @Nullable Object get(CompletableFuture<?> one, long nanos) throws TimeoutException, ExecutionException {
            long end = System.nanoTime() + nanos;
            boolean interrupted = Thread.interrupted();
            try {
                while (true) {
                    try {
                        return one.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private static final class Interruptible extends CallTimeout<InterruptedException> {

        private final CompletableFuture<?> stop;

        Interruptible(long nanos, CompletableFuture<?> stop) {
            super(nanos);
            this.stop = stop;
        }

        @Override
        <T> Reply<T> call(Blocking<T> blocking) throws InterruptedException {
            return blocking.call();
        }

        @Override
        boolean isStopped() {
            return stop.isDone();
        }

        @Override
        @Nullable Object get(CompletableFuture<?> one, long nanos)
                throws TimeoutException, ExecutionException, InterruptedException {
            return CompletableFuture.anyOf(one, stop).get(nanos, TimeUnit.NANOSECONDS);
        }
    }
}
