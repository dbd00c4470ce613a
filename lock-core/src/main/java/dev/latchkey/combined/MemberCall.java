package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.spi.Response;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One call to a member: it begins when the calls before it have ended, unless it is withdrawn first. Thread-safe. */
class MemberCall<T> {

    private final Supplier<CompletionStage<T>> ask;
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private final AtomicBoolean begun = new AtomicBoolean();
    private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();
    private volatile @Nullable MemberCall<?> before;

    MemberCall(Supplier<CompletionStage<T>> ask) {
        this.ask = ask;
    }

    CompletableFuture<T> answer() {
        return answer;
    }

    /** Has another call of the same key, if there is one, come before it. */
    MemberCall<T> after(@Nullable MemberCall<?> call) {
        before = call;
        return this;
    }

    /** The call before it, if that has not ended. */
    Optional<MemberCall<?>> before() {
        return Optional.<MemberCall<?>>ofNullable(before).filter(call -> !call.answer.isDone());
    }

    /** Begins it when the call before it, and something else, have ended, whether they failed or not. */
    void beginAfter(@Nullable CompletableFuture<?> first) {
        MemberCall<?> call = before;
        whenEnded(call == null ? null : call.answer, () -> whenEnded(first, this::begin));
    }

    /** When this is withdrawn, {@code anyOf} unregisters it from the other, which may never end. */
    private void whenEnded(@Nullable CompletableFuture<?> other, Runnable next) {
        if (other == null) {
            next.run();
        } else {
            var unused = CompletableFuture.anyOf(other, withdrawn).whenComplete((theirs, failure) -> next.run());
        }
    }

    private void begin() {
        if (!begun.compareAndSet(false, true)) {
            return;
        }
        before = null;
        try {
            var unused = ask.get().whenComplete((value, failure) -> {
                if (failure == null) {
                    answer.complete(value);
                } else {
                    answer.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    /** Keeps it from beginning; false if it has begun. */
    boolean withdraw() {
        return begun.compareAndSet(false, true);
    }

    /** Ends what was withdrawn. */
    void endWithdrawn(Throwable failure) {
        withdrawn.complete(null);
        answer.completeExceptionally(failure);
    }

    /** Asks a member to save. The caller may have stopped waiting for the answer. */
    static final class Save extends MemberCall<Response> {

        private final BooleanSupplier isAwaited;

        Save(BooleanSupplier isAwaited, Supplier<CompletionStage<Response>> ask) {
            super(ask);
            this.isAwaited = isAwaited;
        }

        boolean isAwaited() {
            return isAwaited.getAsBoolean();
        }
    }

    /** Asks a member to give up what a key claims. */
    static final class Delete extends MemberCall<Boolean> {

        private final Key key;

        Delete(Key key, Supplier<CompletionStage<Boolean>> ask) {
            super(ask);
            this.key = key;
        }

        /** Whether it is still to be sent, and then gives up all that the same key claims. */
        boolean willGiveUp(Key claimed) {
            return key.held().equals(claimed.held()) && !super.begun.get();
        }
    }
}
