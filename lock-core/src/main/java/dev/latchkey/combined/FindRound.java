package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.combined.VoteCount.Vote;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Looks at all members what a key holds. */
final class FindRound {

    private final Quorum quorum;
    private final Key key;
    private final Optional<CombinedHold> before;
    private final int savesBefore;
    private final Round round;

    FindRound(Quorum quorum, Key key) {
        this.quorum = quorum;
        this.key = key;
        this.before = quorum.hold(key);
        this.savesBefore = before.map(CombinedHold::savesIfQuiet).orElse(-1);
        this.round = new Round(
                quorum,
                key,
                FindRound::vote,
                (member, end) -> member.callBefore(end, key, claimed(), () -> ask(member)));
    }

    private LockMode claimed() {
        return key.held().map(Key.Held::mode).orElse(LockMode.SHARED);
    }

    private Response ask(Member member) {
        return member.store()
                .find(quorum.keyFor(member, key, before))
                .<Response>map(granted -> granted)
                .orElse(new Response.Lost(LossReason.EXPIRED));
    }

    private static Vote vote(Response response) {
        return response instanceof Response.Granted ? Vote.GRANTED : Vote.LOST;
    }

    Optional<Response.Granted> finish() {
        VoteCount.Verdict verdict = round.await(this::isClear);
        if (verdict != VoteCount.Verdict.GRANTED) {
            round.onLate(answer -> {});
        }
        return switch (verdict) {
            case GRANTED -> Optional.of(found());
            case LOST -> lost();
            case OPEN, CONFLICTED, FAILED -> throw round.failure();
        };
    }

    /** Whether it is held, and not exclusively, whatever members have that do not answer. */
    boolean isSharedForCertain() {
        VoteCount.Verdict verdict = round.await(answers -> isExclusive(answers) || isShared(answers));
        round.onLate(answer -> {});
        boolean isHeld = verdict == VoteCount.Verdict.GRANTED;
        boolean isShared = isHeld && isShared(round.answers());
        boolean isExclusive = isHeld && isExclusive(round.answers());
        if (!isShared && !isExclusive && verdict != VoteCount.Verdict.LOST) {
            throw round.failure();
        }
        return isShared;
    }

    /** Also by those that may still be asked to demote: they were not yet. */
    private boolean isExclusive(List<Answer<Response>> answers) {
        long exclusive = Round.granted(answers).values().stream()
                .filter(part -> part.mode() == LockMode.EXCLUSIVE)
                .count();
        return quorum.isMet((int) exclusive);
    }

    private boolean isShared(List<Answer<Response>> answers) {
        long others = answers.stream()
                .filter(answer -> answer.value() instanceof Response.Lost
                        || (answer.value() instanceof Response.Granted part && part.mode() == LockMode.SHARED))
                .count();
        return !quorum.canBeMetWithout((int) others);
    }

    private Response.Granted found() {
        Response.Granted found = found(round.granted());
        round.answers().forEach(this::dropIfLost);
        round.onLate(this::dropIfLost);
        return found;
    }

    /** Else what is not there would be counted on when a session ends. */
    private void dropIfLost(Answer<Response> answer) {
        if (isRefresh() && answer.value() instanceof Response.Lost) {
            before.ifPresent(hold -> hold.dropUnlessSaved(answer.member(), savesBefore));
        }
    }

    /** Of an exclusive hold some members may have a shared part: others may show that it is held exclusively all the same. */
    private boolean isClear(List<Answer<Response>> answers) {
        return claimed() == LockMode.SHARED
                || answers.size() == quorum.members().size()
                || quorum.isExclusive(key, Round.granted(answers));
    }

    /** To look changes nothing, but where no member has leases it is how holds are refreshed. */
    private boolean isRefresh() {
        return quorum.members().stream().allMatch(member -> member.expiring().isEmpty());
    }

    private Optional<Response.Granted> lost() {
        if (isRefresh()) {
            before.ifPresent(hold -> hold.loseUnlessSaved(savesBefore, round.inDoubt()));
        }
        return Optional.empty();
    }

    private Response.Granted found(Map<Member, Response.Granted> parts) {
        LockMode mode = quorum.isExclusive(key, parts) ? LockMode.EXCLUSIVE : LockMode.SHARED;
        OptionalLong token = mode == LockMode.SHARED ? OptionalLong.empty() : token(parts);
        return quorum.hold(key)
                .map(hold -> known(hold, mode, token, parts))
                .orElseGet(() -> new Response.Granted(mode, token, lease(parts)));
    }

    /** Where some members have leases it has one that was told, which a question does not begin anew. */
    private Response.Granted known(
            CombinedHold hold, LockMode mode, OptionalLong token, Map<Member, Response.Granted> parts) {
        return hold.lease()
                .filter(told -> quorum.isMixed())
                .map(told -> new Response.Granted(mode, token, told))
                .orElseGet(() -> hold.answer(mode, token, parts.values(), Optional.empty()));
    }

    private Lease lease(Map<Member, Response.Granted> parts) {
        List<Lease> leases =
                parts.values().stream().map(Response.Granted::lease).toList();
        return CombinedLease.of(leases, quorum.size(), Optional.empty(), Lease.endless());
    }

    private OptionalLong token(Map<Member, Response.Granted> parts) {
        return quorum.hold(key)
                .map(CombinedHold::fencingToken)
                .or(() -> key.held().map(Key.Held::fencingToken))
                .orElseGet(() -> quorum.agreed(parts));
    }
}
