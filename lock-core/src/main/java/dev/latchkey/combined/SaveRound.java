package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.LossReason;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.combined.VoteCount.Verdict;
import dev.latchkey.combined.VoteCount.Vote;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Takes, renews, promotes or demotes at all members, and puts back what was granted in vain. */
final class SaveRound {

    private final Quorum quorum;
    private final Request request;
    private final Key key;
    private final TokenRaise fencing;
    private final TokenRaise.Proposal proposal;
    private final Optional<CombinedHold> before;

    /** Its number among the saves of the hold. */
    private final int number;

    private final Round round;
    private volatile boolean isDecided;

    /** Members that were sent the request: the others have what they had, whoever that is of. */
    private final Set<Member> asked = ConcurrentHashMap.newKeySet();

    SaveRound(Quorum quorum, Request request, TokenRaise fencing) {
        this.quorum = quorum;
        this.request = request;
        this.key = request.key();
        this.fencing = fencing;
        this.proposal = fencing.proposal(key.resource());
        // Also where nothing is held yet: what gives back a second Lock's grants ends it, and so what this is granted
        // meanwhile.
        this.before = isFresh() ? Optional.of(quorum.holdOrNew(key)) : quorum.hold(request);
        this.number = before.map(hold -> hold.saveBegins(request)).orElse(0);
        this.round = new Round(quorum, key, this::vote, this::ask);
    }

    private CompletableFuture<Response> ask(Member member, long endNanos) {
        OptionalLong wish =
                mintsToken() && member.fencing().isPresent() ? OptionalLong.of(proposal.token()) : OptionalLong.empty();
        if (isPromotion()) {
            return member.promoteBefore(endNanos, key, () -> promote(member, wish));
        }
        return member.saveBefore(endNanos, key, () -> !isDecided, () -> sending(member, requestTo(member)), wish);
    }

    private Request requestTo(Member member) {
        if (isPromotion() && before.filter(hold -> hold.mayBeDemoted(member)).isPresent()) {
            throw mayBeDemoted();
        }
        return request.with(quorum.keyFor(member, key, before));
    }

    /**
     * What is exclusive there was promoted elsewhere, where the key was meanwhile, and a demotion of that may still come. A
     * member may have been asked there of which the hold has another token, or none.
     */
    private Response promote(Member member, OptionalLong wish) {
        Request promotion = requestTo(member);
        boolean isKnown = before.flatMap(CombinedHold::mode).equals(Optional.of(LockMode.EXCLUSIVE));
        boolean isExclusive = !isKnown
                && member.store()
                        .find(promotion.key())
                        .filter(found -> found.mode() == LockMode.EXCLUSIVE)
                        .isPresent();
        if (isExclusive) {
            throw mayBeDemoted();
        }
        return member.saveNow(sending(member, promotion), wish);
    }

    private Request sending(Member member, Request sent) {
        asked.add(member);
        return sent;
    }

    private LockStorageException mayBeDemoted() {
        return new LockStorageException(
                key.resource(),
                "a member of the combined store was not seen to share what is to be promoted, and may still be asked to",
                null,
                Failure.NOT_SENT);
    }

    static boolean changesMode(Request request) {
        return request.key()
                .held()
                .filter(held -> held.mode() != request.mode())
                .isPresent();
    }

    private boolean isPromotion() {
        return changesMode(request) && request.mode() == LockMode.EXCLUSIVE;
    }

    private boolean isFresh() {
        return key.held().isEmpty();
    }

    private boolean mintsToken() {
        return request.mode() == LockMode.EXCLUSIVE && !isClaimedAs(LockMode.EXCLUSIVE);
    }

    private boolean isClaimedAs(LockMode mode) {
        return key.held().map(held -> held.mode() == mode).orElse(false);
    }

    /** A conflict of one who renews means that its part is gone, and taken. */
    private Vote vote(Response response) {
        if (response instanceof Response.Granted) {
            return Vote.GRANTED;
        }
        return response instanceof Response.Lost || !(isFresh() || isPromotion()) ? Vote.LOST : Vote.CONFLICTED;
    }

    Response finish() {
        try {
            return decided();
        } finally {
            before.ifPresent(hold -> hold.saveEnds(request));
        }
    }

    private Response decided() {
        Verdict verdict = round.await(this::canAgreeOnToken);
        isDecided = true;
        return switch (verdict) {
            case GRANTED -> granted();
            case LOST -> lost();
            case CONFLICTED -> {
                undo();
                yield conflict();
            }
            case OPEN, FAILED -> {
                undo();
                throw request.isDemotion() ? round.inDoubtFailure() : round.failure();
            }
        };
    }

    /** Whether some members granted what others refused. */
    boolean wasSplit() {
        return isFresh() && !round.granted().isEmpty();
    }

    /** Whether enough of those who keep tokens have answered, or too few of them still can. */
    private boolean canAgreeOnToken(List<Answer<Response>> answers) {
        if (!mintsToken() || !quorum.agreesOnTokens()) {
            return true;
        }
        long asked = answers.stream()
                .filter(answer -> answer.member().fencing().isPresent())
                .count();
        long granted = Round.granted(answers).keySet().stream()
                .filter(member -> member.fencing().isPresent())
                .count();
        int majority = TokenAgreement.majority(quorum.fencing());
        return granted >= majority || granted + quorum.fencing() - asked < majority;
    }

    private Response granted() {
        Map<Member, Response.Granted> granted = round.granted();
        Optional<OptionalLong> token = token(granted);
        if (token.isEmpty()) {
            return endedMeanwhile();
        }
        if (isClaimedAs(LockMode.EXCLUSIVE) && isAnother(granted)) {
            round.onLate(answer -> {});
            return new Response.Lost(LossReason.RELEASED_ELSEWHERE);
        }
        CombinedHold hold = before.orElseGet(() -> quorum.holdOrNew(key));
        if (!hold.add(number, granted, request.mode(), token.get())) {
            return endedMeanwhile();
        }
        // What is told from now on decides which parts last as long, should one be missing.
        Response.Granted told = hold.answer(
                request.mode(), token.get(), granted.values(), quorum.leaseOf(request, proposal.sentNanos()));
        Repair repair = new Repair(quorum, request, hold, number);
        round.answers().stream()
                .filter(answer -> !isSettled(granted.get(answer.member()), token.get()))
                .forEach(repair::consider);
        round.onLate(repair::consider);
        return told;
    }

    /** A part was lost between the grant and the raise, or all was given up: a rival may be at it, and so may we. */
    private Response endedMeanwhile() {
        undo();
        return isFresh() || isPromotion() ? Response.Conflicted.NO_HINT : new Response.Lost(LossReason.EXPIRED);
    }

    /** Whether a member has its part, with the token of the hold: the raise of the others may still be on its way. */
    private boolean isSettled(Response.@Nullable Granted part, OptionalLong token) {
        return part != null
                && part.mode() == request.mode()
                && (token.isEmpty() || part.fencingToken().equals(token));
    }

    /** Empty if it could not be agreed on. */
    private Optional<OptionalLong> token(Map<Member, Response.Granted> granted) {
        if (request.mode() == LockMode.SHARED) {
            return Optional.of(OptionalLong.empty());
        }
        if (isClaimedAs(LockMode.EXCLUSIVE)) {
            return key.held().map(Key.Held::fencingToken);
        }
        OptionalLong kept = keptToken(granted);
        return kept.isPresent() ? Optional.of(kept) : fencing.agree(key, proposal, granted);
    }

    /** The token of what the same key holds here already, as with a second Lock over it; empty if that may have ended. */
    private OptionalLong keptToken(Map<Member, Response.Granted> granted) {
        OptionalLong token = before.filter(hold -> hold.mode().equals(Optional.of(LockMode.EXCLUSIVE)))
                .map(CombinedHold::fencingToken)
                .orElse(OptionalLong.empty());
        boolean isKept = quorum.agreesOnTokens()
                && token.isPresent()
                && TokenAgreement.isKept(token.getAsLong(), TokenRaise.tokens(granted), quorum.fencing());
        return isKept ? token : OptionalLong.empty();
    }

    /** A hold taken elsewhere was renewed without its members' own tokens: what they answer must fit the claim. */
    private boolean isAnother(Map<Member, Response.Granted> granted) {
        OptionalLong claimed = key.held().map(Key.Held::fencingToken).orElse(OptionalLong.empty());
        return before.isEmpty()
                && request.mode() == LockMode.EXCLUSIVE
                && claimed.isPresent()
                && quorum.isUnanimous()
                && !quorum.agreed(granted).equals(claimed);
    }

    private Response lost() {
        Rollback undoing = rollback();
        before.ifPresentOrElse(hold -> hold.giveUp(round.inDoubt()), undoing::giveBackTooFew);
        round.onLate(answer -> {});
        return round.answers().stream()
                .map(Answer::value)
                .filter(Response.Lost.class::isInstance)
                .findFirst()
                .orElse(new Response.Lost(LossReason.TAKEN_OVER));
    }

    private void undo() {
        rollback().undo(before);
    }

    private Rollback rollback() {
        return new Rollback(quorum, request, round, asked::contains);
    }

    private Response conflict() {
        if (round.answers().stream().anyMatch(answer -> answer.value() instanceof Response.Refused)) {
            return new Response.Refused();
        }
        return round.answers().stream()
                .map(Answer::value)
                .filter(Response.Conflicted.class::isInstance)
                .map(Response.Conflicted.class::cast)
                .map(Response.Conflicted::retryAfter)
                .filter(hint -> !hint.isZero())
                .min(Duration::compareTo)
                .map(Response.Conflicted::new)
                .orElse(Response.Conflicted.NO_HINT);
    }
}
