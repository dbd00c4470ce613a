package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.combined.VoteCount.Vote;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** Refreshes at all members; one without leases is asked whether it still has its part. */
final class RefreshRound {

    /** Another one than any store answers. */
    private static final Response.Lost SHARED_ONLY = new Response.Lost(LossReason.EXPIRED);

    private final Quorum quorum;
    private final Request request;
    private final Key key;
    private final Optional<CombinedHold> before;
    private final int savesBefore;
    private final CompletableFuture<?> told;
    private final long sentNanos = System.nanoTime();
    private final Round round;

    /** The last argument is complete when the answer is told, as that of a batch is with all others. */
    RefreshRound(Quorum quorum, Request request, long end, CompletableFuture<?> told) {
        this.quorum = quorum;
        this.request = request;
        this.key = request.key();
        this.told = told;
        this.before = quorum.hold(key);
        this.savesBefore = before.map(CombinedHold::savesIfQuiet).orElse(-1);
        this.round = new Round(
                quorum,
                key,
                response -> response instanceof Response.Granted ? Vote.GRANTED : Vote.LOST,
                end,
                (member, until) -> request.leaseChange() == LeaseChange.SET
                        ? member.cutBefore(until, key, claimed(), () -> ask(member))
                        : member.callBefore(until, key, claimed(), () -> ask(member)));
    }

    /** As what it is to be kept. */
    private LockMode claimed() {
        return key.held().map(Key.Held::mode).orElse(LockMode.SHARED);
    }

    /** One that was not there for a promotion has a part that keeps no reader away: it is as good as lost. */
    private Response ask(Member member) {
        Key asked = quorum.keyFor(member, key, before);
        Response response = refresh(member, asked);
        boolean isShared = response instanceof Response.Granted granted && granted.mode() == LockMode.SHARED;
        return isShared && claimed() == LockMode.EXCLUSIVE ? SHARED_ONLY : response;
    }

    private Response refresh(Member member, Key asked) {
        return member.expiring()
                .map(store -> store.refresh(request.with(asked)))
                .orElseGet(() -> member.store()
                        .find(asked)
                        .<Response>map(granted -> granted)
                        .orElse(new Response.Lost(LossReason.SESSION_LOST)));
    }

    Response finish() {
        return switch (round.await(answers -> true)) {
            case GRANTED -> granted();
            case LOST, CONFLICTED -> lost();
            case OPEN, FAILED -> {
                round.onLate(answer -> {});
                throw request.leaseChange() == LeaseChange.SET ? round.inDoubtFailure() : round.failure();
            }
        };
    }

    private Response granted() {
        Map<Member, Response.Granted> granted = round.granted();
        LockMode mode = answeredMode(granted);
        OptionalLong token = mode == LockMode.SHARED ? OptionalLong.empty() : token(granted);
        CombinedHold hold = before.orElseGet(() -> quorum.holdOrNew(key));
        int save = before.isPresent() ? savesBefore : 0;
        boolean isHeld = before.isPresent()
                ? hold.addAsClaimed(save, granted, key.held())
                : hold.add(save, granted, mode, token);
        if (!isHeld) {
            // Ended, or demoted or promoted anew meanwhile by the same key: that must not be made what was asked about.
            round.onLate(answer -> {});
            return new Response.Lost(LossReason.RELEASED_ELSEWHERE);
        }
        // What is told from now on decides which parts last as long, should one be missing.
        Response.Granted answer = hold.answer(mode, token, granted.values(), quorum.leaseOf(request, sentNanos));
        Repair repair = new Repair(quorum, repeated(mode), hold, save);
        round.answers().forEach(repair::consider);
        round.onLate(repair::consider);
        return answer;
    }

    private Request repeated(LockMode mode) {
        return new Request(key, mode, request.ttl(), request.retryIntent(), LeaseChange.EXTEND, request.owner());
    }

    /** More than is claimed is not told: it was not looked at whether members keep that. */
    private LockMode answeredMode(Map<Member, Response.Granted> granted) {
        boolean mayBeMore = key.held().isEmpty()
                && before.flatMap(CombinedHold::mode).orElse(LockMode.EXCLUSIVE) == LockMode.EXCLUSIVE;
        return mayBeMore && quorum.isExclusive(key, granted) ? LockMode.EXCLUSIVE : claimed();
    }

    private OptionalLong token(Map<Member, Response.Granted> granted) {
        return key.held()
                .map(Key.Held::fencingToken)
                .or(() -> before.map(CombinedHold::fencingToken))
                .orElseGet(() -> quorum.agreed(granted));
    }

    private Response lost() {
        List<Member> inDoubt = new ArrayList<>(round.inDoubt());
        round.answers().stream()
                .filter(answer -> answer.value() == SHARED_ONLY)
                .map(Answer::member)
                .forEach(inDoubt::add);
        before.ifPresent(hold -> hold.endUnlessSaved(savesBefore, inDoubt, told));
        round.onLate(answer -> {});
        return round.answers().stream()
                .map(Answer::value)
                .filter(Response.Lost.class::isInstance)
                .findFirst()
                .orElse(new Response.Lost(LossReason.EXPIRED));
    }
}
