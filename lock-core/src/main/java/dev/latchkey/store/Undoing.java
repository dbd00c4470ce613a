package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Request;
import dev.latchkey.store.Ballot.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Gives back what members granted in vain, a promotion to what it was. What was held before stays. */
final class Undoing {

    /**
     * How long a refusal waits for what it gives back, so that it leaves nothing for rivals to run into. Where a member takes
     * longer, it is given back later.
     */
    private static final long GRACE_NANOS = Duration.ofMillis(250).toNanos();

    private final Quorum quorum;
    private final Request request;
    private final Key key;
    private final Round round;

    Undoing(Quorum quorum, Request request, Round round) {
        this.quorum = quorum;
        this.request = request;
        this.key = request.key();
        this.round = round;
    }

    /** What is left of a hold that is lost and not known here: too few to be one, and without a lease nobody would end them. */
    void giveBackTooFew() {
        for (Member member : round.granted().keySet()) {
            var unused = member.delete(key.claiming(Optional.empty()));
        }
    }

    void undo() {
        round.onLate(answer -> {});
        boolean isFresh = key.held().isEmpty();
        if (!isFresh && !isPromotion()) {
            return;
        }
        if (isFresh) {
            quorum.forget(key);
        }
        Map<Member, Attempt.Granted> granted = round.granted();
        List<Member> inDoubt = round.inDoubt();
        Ballot<Object> undone = new Ballot<>(inDoubt.size(), answer -> {});
        for (Member member : inDoubt) {
            undone.expect(
                    member, isFresh ? delete(member) : member.call(key, () -> demote(member, granted.get(member))));
        }
        List<Answer<Object>> unused =
                undone.await(soFar -> false, Math.min(System.nanoTime() + GRACE_NANOS, quorum.end()));
    }

    private boolean isPromotion() {
        return request.mode() == LockMode.EXCLUSIVE
                && key.held().map(held -> held.mode() == LockMode.SHARED).orElse(false);
    }

    private CompletableFuture<Object> delete(Member member) {
        return member.delete(key.claiming(Optional.empty())).thenApply(wasHolder -> wasHolder);
    }

    private Object demote(Member member, Attempt.@Nullable Granted part) {
        Duration kept = part == null ? request.ttl() : longer(part.lease().ttl(), request.ttl());
        Key.Held claim = part == null
                ? new Key.Held(LockMode.SHARED, OptionalLong.empty())
                : new Key.Held(part.mode(), part.fencingToken());
        return member.store()
                .save(new Request(key.claiming(Optional.of(claim)), LockMode.SHARED, kept, request.patience()));
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? other : one;
    }
}
