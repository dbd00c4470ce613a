package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Gives back what members granted in vain, a promotion to what it was. What was held before stays. */
final class Rollback {

    /**
     * How long a refusal waits for what it gives back, so that it leaves nothing for rivals to run into. Where a member takes
     * longer, it is given back later.
     */
    static final long GRACE_NANOS = Duration.ofMillis(250).toNanos();

    private final Quorum quorum;
    private final Request request;
    private final Key key;
    private final Round round;
    private final Predicate<Member> wasAsked;

    Rollback(Quorum quorum, Request request, Round round, Predicate<Member> wasAsked) {
        this.quorum = quorum;
        this.request = request;
        this.key = request.key();
        this.round = round;
        this.wasAsked = wasAsked;
    }

    /** What is left of a hold that is lost and not known here: too few to be one, and without a lease nobody would end them. */
    void giveBackTooFew() {
        for (Member member : round.granted().keySet()) {
            var unused = member.delete(key.claiming(Optional.empty()));
        }
    }

    /** The argument is what this store knew the key to hold, which a second Lock over it does not claim. */
    void undo(Optional<CombinedHold> before) {
        round.onLate(answer -> {});
        Optional<CombinedHold> hold = quorum.hold(key).or(() -> before);
        Optional<LockMode> known = hold.filter(CombinedHold::isHeld).flatMap(CombinedHold::mode);
        // Also what a second Lock was granted that this one does not know of, and claims as shared.
        boolean wasExclusive = known.equals(Optional.of(LockMode.EXCLUSIVE));
        Optional<LockMode> had =
                wasExclusive ? known : key.held().map(Key.Held::mode).or(() -> known);
        boolean isPromotion = request.mode() == LockMode.EXCLUSIVE && had.equals(Optional.of(LockMode.SHARED));
        if (had.isEmpty()) {
            quorum.beginUndo(key, CombinedHold::endsUnheld).ifPresent(this::giveBack);
        } else if (isPromotion) {
            // Also of what is only being taken: it is not to become exclusive where readers are let in.
            quorum.beginUndo(key, CombinedHold::undoBegins).ifPresent(this::demote);
        }
    }

    private void giveBack(CombinedHold ended) {
        MemberResponses<Object> deleted;
        try {
            deleted = ask(this::delete);
        } finally {
            quorum.leave(key, ended);
        }
        settle(deleted);
    }

    private void demote(CombinedHold hold) {
        Map<Member, Response.Granted> granted = round.granted();
        MemberResponses<Object> demoted;
        try {
            demoted = ask(member -> member.call(key, () -> demote(member, granted.get(member))));
        } finally {
            hold.demotionEnds();
            quorum.leave(key, hold);
        }
        settle(demoted);
    }

    private MemberResponses<Object> ask(Function<Member, CompletableFuture<Object>> question) {
        List<Member> inDoubt = round.inDoubt();
        MemberResponses<Object> answers = new MemberResponses<>(inDoubt.size(), answer -> {});
        inDoubt.forEach(member -> answers.expect(member, question.apply(member)));
        return answers;
    }

    private void settle(MemberResponses<Object> answers) {
        List<Answer<Object>> unused =
                answers.await(soFar -> false, Math.min(System.nanoTime() + GRACE_NANOS, quorum.end()));
    }

    private CompletableFuture<Object> delete(Member member) {
        return member.delete(key.claiming(Optional.empty())).thenApply(wasHolder -> wasHolder);
    }

    /**
     * Where the promotion was not answered, or its token was raised without an answer, the member is asked what it has. Where it
     * was not sent, what is exclusive is of another Lock. This comes in turn after the promotion, so that is known by now.
     */
    private Object demote(Member member, Response.@Nullable Granted part) {
        if (!wasAsked.test(member)) {
            return false;
        }
        boolean isDone = part != null && save(member, part) instanceof Response.Granted;
        if (!isDone) {
            member.store()
                    .find(key)
                    .filter(found -> found.mode() == LockMode.EXCLUSIVE)
                    .ifPresent(found -> save(member, found));
        }
        return isDone;
    }

    /**
     * Claims the token of what it ends: if it comes late it must not end what was promoted since. Where the member had not put it
     * back before, that has the same token; so it is not promoted there again without an answer.
     */
    private Response save(Member member, Response.Granted ended) {
        Key claim = key.claiming(Optional.of(new Key.Held(ended.mode(), ended.fencingToken())));
        return member.saveNow(new Request(
                claim, LockMode.SHARED, request.ttl(), request.retryIntent(), LeaseChange.EXTEND, request.owner()));
    }
}
