package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.store.Ballot.Answer;
import dev.latchkey.store.Tally.Vote;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Refreshes at all members; one without leases is asked whether it still has its part. */
final class RefreshRound {

    private final Quorum quorum;
    private final Request request;
    private final Key key;
    private final Optional<CombinedHold> before;
    private final int savesBefore;
    private final long sentNanos = System.nanoTime();
    private final Round round;

    RefreshRound(Quorum quorum, Request request, long end) {
        this.quorum = quorum;
        this.request = request;
        this.key = request.key();
        this.before = quorum.hold(key);
        this.savesBefore = before.map(CombinedHold::savesIfQuiet).orElse(-1);
        this.round = new Round(
                quorum,
                key,
                RefreshRound::vote,
                end,
                (member, until) -> request.leaseChange() == LeaseChange.SET
                        ? member.cutBefore(until, key, () -> ask(member))
                        : member.callBefore(until, key, () -> ask(member)));
    }

    private Attempt ask(Member member) {
        Key asked = quorum.keyFor(member, key);
        return member.expiring()
                .map(store -> store.refresh(request.with(asked)))
                .orElseGet(() -> member.store()
                        .find(asked)
                        .<Attempt>map(granted -> granted)
                        .orElse(new Attempt.Lost(LossReason.SESSION_LOST)));
    }

    private static Vote vote(Attempt attempt) {
        return attempt instanceof Attempt.Granted ? Vote.GRANTED : Vote.LOST;
    }

    Attempt finish() {
        return switch (round.await(answers -> true)) {
            case GRANTED -> granted();
            case LOST, CONFLICTED -> lost();
            case OPEN, FAILED -> {
                round.onLate(answer -> {});
                throw round.failure();
            }
        };
    }

    private Attempt granted() {
        Map<Member, Attempt.Granted> granted = round.granted();
        Optional<CombinedHold> known = before.filter(hold -> hold.fits(key.held()));
        CombinedHold hold = known.orElseGet(() -> quorum.holdOrNew(key));
        if (!hold.add(granted)) {
            round.onLate(answer -> {});
            return new Attempt.Lost(LossReason.RELEASED_ELSEWHERE);
        }
        // What is known here may be newer than the claim of a request that comes late.
        LockMode mode = known.flatMap(CombinedHold::mode)
                .or(() -> key.held().map(Key.Held::mode))
                .orElse(request.mode());
        OptionalLong token = token(known, mode, granted);
        hold.becomes(mode, token);
        Repair repair = new Repair(quorum, new Request(key, mode, request.ttl(), request.patience()), hold);
        round.answers().forEach(repair::consider);
        round.onLate(repair::consider);
        return hold.answer(mode, token, granted.values(), quorum.leaseOf(request, sentNanos));
    }

    private OptionalLong token(Optional<CombinedHold> known, LockMode mode, Map<Member, Attempt.Granted> granted) {
        if (mode == LockMode.SHARED) {
            return OptionalLong.empty();
        }
        return known.map(CombinedHold::fencingToken)
                .or(() -> key.held().map(Key.Held::fencingToken))
                .orElseGet(() -> quorum.agreed(granted));
    }

    private Attempt lost() {
        before.ifPresent(hold -> hold.endUnlessSaved(savesBefore, round.inDoubt()));
        round.onLate(answer -> {});
        return round.answers().stream()
                .map(Answer::value)
                .filter(Attempt.Lost.class::isInstance)
                .findFirst()
                .orElse(new Attempt.Lost(LossReason.EXPIRED));
    }
}
