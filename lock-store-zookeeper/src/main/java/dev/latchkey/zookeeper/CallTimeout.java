package dev.latchkey.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * How long one call of a user waits for answers, and whether an interrupt or a withdrawal ends it.
 *
 * @param <X> what an interrupt throws
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

    /** Whether a limit is as long as any: what is not answered in it is a failure of the servers. */
    static boolean isPatient(long nanos) {
        return nanos >= Failures.ANSWER_NANOS;
    }

    /** For what must be known: an interrupt is kept for later. */
    static CallTimeout<RuntimeException> deaf(long nanos) {
        return new Deaf(nanos);
    }

    /** For a wait: ended by an interrupt, and by the given future. */
    static CallTimeout<InterruptedException> alert(long nanos, CompletableFuture<?> stop) {
        return new Alert(nanos, stop);
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
     * Whether a call that blocks may be made. Only the client limits its time: if it has lost the connection, or after two
     * thirds of the session timeout if the server is mute, which is too long for a caller in a hurry.
     */
    final boolean mayBlock() {
        return patient && !Thread.currentThread().isInterrupted();
    }

    /**
     * Asks by a call that blocks, which spares a hand-over between threads; deaf to a withdrawal, and to time.
     *
     * @return {@link Reply#none()} if an interrupt has left it open what became of it
     */
    abstract <T> Reply<T> call(Blocking<T> blocking) throws X;

    /** As {@link #call}, for what may be asked twice, and if a call may not block. */
    final <T> Reply<T> ask(Blocking<T> blocking, Supplier<CompletableFuture<Reply<T>>> otherwise) throws X {
        Reply<T> answer = mayBlock() ? call(blocking) : Reply.none();
        return answer.is(Code.OPERATIONTIMEOUT) ? answer(otherwise.get()) : answer;
    }

    /** A call of the client that waits for the answer. */
    interface Blocking<T> {
        Reply<T> call() throws InterruptedException;
    }

    /** Before the same is asked again. */
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
            // Seen by who asks whether it is done.
        } catch (ExecutionException e) {
            throw new IllegalStateException("no answer completes like that", e.getCause());
        }
    }

    private long leftNanos() {
        return endNanos - System.nanoTime();
    }

    private static final class Deaf extends CallTimeout<RuntimeException> {

        Deaf(long nanos) {
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

    private static final class Alert extends CallTimeout<InterruptedException> {

        private final CompletableFuture<?> stop;

        Alert(long nanos, CompletableFuture<?> stop) {
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
