package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Makes the calls of each key to one member one after the other, in the order they were given. Thread-safe. */
final class CallsByKey {

    /** The last call of each key. */
    private final ConcurrentMap<Key, MemberCall<?>> last = new ConcurrentHashMap<>();

    /** Begins a call when those of the same key before it, and something else, have ended. */
    void add(Key key, MemberCall<?> call, @Nullable CompletableFuture<?> first) {
        last.compute(key, (same, before) -> call.after(before));
        var unused = call.answer().whenComplete((mine, failure) -> last.remove(key, call));
        call.beginAfter(first);
    }

    /** Complete when all that were added before have ended. */
    CompletableFuture<?> ended() {
        return CompletableFuture.allOf(
                last.values().stream().map(MemberCall::answer).toArray(CompletableFuture<?>[]::new));
    }

    /** Ends the last one of each key. */
    void endAll(Function<Key, RuntimeException> failure) {
        last.forEach((key, call) -> call.answer().completeExceptionally(failure.apply(key)));
    }

    /**
     * Withdraws the last call of a key that is about to be released, if it is a save that has not begun and that nobody waits for,
     * and no other call comes before it than a release of the same claim that has not begun either. Without this, a save and a release of each hold that
     * other members grant would wait for a member that hangs, to be sent one after the other when it is back, and a new owner
     * would have to wait for them all.
     *
     * @return whether there is such a release: it does what another one would do
     */
    boolean withdrawUnsentSave(Key key) {
        if (!(last.get(key) instanceof MemberCall.Save save) || save.isAwaited()) {
            return false;
        }
        Optional<MemberCall<?>> before = save.before();
        boolean isReleased = before.filter(call -> call instanceof MemberCall.Delete delete && delete.willGiveUp(key))
                .isPresent();
        if (before.isPresent() && !isReleased) {
            return false;
        }
        AtomicBoolean withdrawn = new AtomicBoolean();
        last.computeIfPresent(key, (same, call) -> {
            withdrawn.set(call == save && save.withdraw());
            return withdrawn.get() ? before.orElse(null) : call;
        });
        if (!withdrawn.get()) {
            return false;
        }
        // It has removed itself already if it ended meanwhile.
        before.filter(call -> call.answer().isDone()).ifPresent(call -> last.remove(key, call));
        save.endWithdrawn(new LockStorageException(
                key.resource(),
                "the key was released before a member of the combined store was asked",
                null,
                Failure.NOT_SENT));
        return isReleased;
    }
}
