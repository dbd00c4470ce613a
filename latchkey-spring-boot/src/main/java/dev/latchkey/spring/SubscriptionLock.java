package dev.latchkey.spring;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The lock of one subscription. A cancellation may come while the store grants it, and Reactor drops the result then: it is
 * released here, or it would be renewed for ever. Thread-safe.
 */
final class SubscriptionLock {

    private enum State {
        WAITING,
        GRANTED,
        /** Reactor calls the release, whatever happens. */
        TAKEN,
        CANCELLED
    }

    private static final Scheduler THREADS = Schedulers.fromExecutorService(BlockingThreads.POOL);

    private final LockedPublisher publisher;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
    private volatile @Nullable HeldLock held;

    SubscriptionLock(LockedPublisher publisher) {
        this.publisher = publisher;
    }

    /** Waiting blocks: on a thread that may. Empty if the call is to be skipped. */
    Mono<Optional<HeldLock>> acquire() {
        return Mono.fromCallable(() -> {
                    HeldLock acquired = publisher
                            .acquirer()
                            .acquire(publisher.resource(), publisher.settings(), Acquirer.OnLoss.IS_ONLY_KNOWN);
                    held = acquired;
                    if (!state.compareAndSet(State.WAITING, State.GRANTED)) {
                        releaseLater();
                    }
                    return Optional.ofNullable(acquired);
                })
                .subscribeOn(THREADS);
    }

    /** Tells whether the work may begin. */
    boolean take() {
        return state.compareAndSet(State.GRANTED, State.TAKEN);
    }

    void cancel() {
        State before = state.getAndUpdate(now -> now == State.TAKEN ? now : State.CANCELLED);
        if (before == State.GRANTED) {
            releaseLater();
        }
    }

    /** Not in the thread that was waiting, which the cancellation interrupts. */
    private void releaseLater() {
        HeldLock one = held;
        if (one != null) {
            BlockingThreads.run(() -> publisher.acquirer().release(one));
        }
    }

    Mono<Void> release() {
        return Mono.create(sink -> BlockingThreads.run(() -> {
            try {
                releaseOrThrow();
                sink.success();
            } catch (RuntimeException | Error e) {
                sink.error(e);
            }
        }));
    }

    private void releaseOrThrow() {
        HeldLock one = held;
        if (one != null && state.get() == State.TAKEN && !publisher.acquirer().release(one)) {
            throw one.lost("it was lost before the work under it had ended");
        }
    }
}
