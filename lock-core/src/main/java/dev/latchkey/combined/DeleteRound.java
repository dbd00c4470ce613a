package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.combined.VoteCount.Verdict;
import dev.latchkey.combined.VoteCount.Vote;
import java.util.List;
import java.util.Optional;

/** Gives up at all members, also at those that are not waited for. */
final class DeleteRound {

    private final Quorum quorum;
    private final Key key;
    private final MemberResponses<Boolean> ballot;

    DeleteRound(Quorum quorum, Key key) {
        this.quorum = quorum;
        this.key = key;
        this.ballot = new MemberResponses<>(quorum.members().size(), answer -> {});
        Optional<CombinedHold> hold = quorum.hold(key);
        Optional<CombinedHold> ended = quorum.beginUndo(key, CombinedHold::ends);
        try {
            for (Member member : quorum.members()) {
                Key claim = key.claiming(hold.flatMap(known -> known.part(member)));
                ballot.expect(member, member.delete(claim));
            }
        } finally {
            ended.ifPresent(known -> quorum.leave(key, known));
        }
    }

    /** Waits for all members, but not for long: for what would only be in somebody's way. */
    void settle() {
        List<Answer<Boolean>> unused =
                ballot.await(soFar -> false, Math.min(System.nanoTime() + Rollback.GRACE_NANOS, quorum.end()));
    }

    /** Neither true nor false if those that failed would make the difference. */
    boolean finish() {
        List<Answer<Boolean>> answers = ballot.await(soFar -> quorum.early(votes(soFar)) != Verdict.OPEN, quorum.end());
        List<Vote> votes = votes(answers);
        int granted = VoteCount.count(votes, Vote.GRANTED);
        if (quorum.isMet(granted)) {
            return true;
        }
        int possible = quorum.members().size() - VoteCount.count(votes, Vote.LOST);
        if (quorum.isMet(possible)) {
            throw quorum.failed(key, answers);
        }
        return false;
    }

    private static List<Vote> votes(List<Answer<Boolean>> answers) {
        return answers.stream().map(DeleteRound::vote).toList();
    }

    private static Vote vote(Answer<Boolean> answer) {
        Boolean wasHolder = answer.value();
        if (wasHolder == null) {
            return Vote.FAILED;
        }
        return wasHolder ? Vote.GRANTED : Vote.LOST;
    }
}
