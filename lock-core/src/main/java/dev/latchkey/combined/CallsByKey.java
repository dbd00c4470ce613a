package dev.latchkey.combined;

import dev.latchkey.Key;
import java.util.ArrayList;
import java.util.List;
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
        List<CompletableFuture<?>> answers = new ArrayList<>();
        for (MemberCall<?> call : last.values()) {
            answers.add(call.answer());
            // One that is withdrawn ends before these.
            for (Optional<MemberCall<?>> before = call.before();
                    before.isPresent();
                    before = before.get().before()) {
                answers.add(before.get().answer());
            }
        }
        return CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]));
    }

    /** Ends the last one of each key. */
    void endAll(Function<Key, RuntimeException> failure) {
        last.forEach((key, call) -> call.answer().completeExceptionally(failure.apply(key)));
    }

    /**
     * Before a key is released, withdraws its last call if that is a save that has not begun and that nobody waits for. The call
     * before it must have ended, or be a release of the same claim that has not begun.
     *
     * <p>Without this, a save and a release of each hold that other members grant would wait for a member that hangs. They would
     * be sent one after the other when it is back, and a new owner would have to wait for them all.
     *
     * @return what was withdrawn, for the caller to end. If a call is before it, no other release is needed
     */
    Optional<MemberCall.Save> withdrawUnsentSave(Key key) {
        if (!(last.get(key) instanceof MemberCall.Save save) || save.isAwaited()) {
            return Optional.empty();
        }
        Optional<MemberCall<?>> before = save.before();
        if (before.isPresent() && !(before.get() instanceof MemberCall.Delete delete && delete.willGiveUp(key))) {
            return Optional.empty();
        }
        AtomicBoolean withdrawn = new AtomicBoolean();
        last.computeIfPresent(key, (same, call) -> {
            withdrawn.set(call == save && save.withdraw());
            return withdrawn.get() && before.isPresent() ? before.get() : call;
        });
        // It has removed itself already if it ended meanwhile.
        before.filter(call -> call.answer().isDone()).ifPresent(call -> last.remove(key, call));
        return withdrawn.get() ? Optional.of(save) : Optional.empty();
    }
}
