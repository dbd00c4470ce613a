package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.combined.VoteCount.Verdict;
import dev.latchkey.combined.VoteCount.Vote;
import dev.latchkey.spi.Response;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/** One question to all members at once, whose answer is an {@link Response}. */
final class Round {

    /** Asks one member, for as long as the answer is of use. */
    interface Ask {

        CompletableFuture<Response> begin(Member member, long endNanos);
    }

    private final Quorum quorum;
    private final Key key;
    private final Function<Response, Vote> votes;
    private final long end;
    private final CompletableFuture<Consumer<Answer<Response>>> late = new CompletableFuture<>();
    private final MemberResponses<Response> ballot;
    private List<Answer<Response>> answers = List.of();

    Round(Quorum quorum, Key key, Function<Response, Vote> votes, Ask ask) {
        this(quorum, key, votes, quorum.end(), ask);
    }

    Round(Quorum quorum, Key key, Function<Response, Vote> votes, long end, Ask ask) {
        this.quorum = quorum;
        this.key = key;
        this.votes = votes;
        this.end = end;
        this.ballot = new MemberResponses<>(quorum.members().size(), answer -> {
            var unused = late.thenAccept(handler -> handler.accept(answer));
        });
        for (Member member : quorum.members()) {
            ballot.expect(member, ask.begin(member, end));
        }
    }

    /** Waits until the members have decided, and whatever else is wanted of their answers. */
    Verdict await(Predicate<List<Answer<Response>>> isComplete) {
        answers = ballot.await(
                soFar -> switch (quorum.early(votes(soFar))) {
                    case OPEN -> false;
                    case GRANTED -> isComplete.test(soFar);
                    // Whether all say so makes a difference.
                    case FAILED -> !isMistake(soFar);
                    default -> true;
                },
                end);
        return quorum.last(votes(answers));
    }

    /** Says what is to become of answers that come after the decision. To be called once, after {@link #await}. */
    void onLate(Consumer<Answer<Response>> handler) {
        late.complete(handler);
    }

    List<Answer<Response>> answers() {
        return answers;
    }

    /** What members granted, in their order. */
    Map<Member, Response.Granted> granted() {
        return granted(answers);
    }

    static Map<Member, Response.Granted> granted(List<Answer<Response>> answers) {
        Map<Member, Response.Granted> granted = new LinkedHashMap<>();
        answers.stream()
                .sorted((one, other) -> one.member().number() - other.member().number())
                .forEach(answer -> {
                    if (answer.value() instanceof Response.Granted part) {
                        granted.put(answer.member(), part);
                    }
                });
        return granted;
    }

    /** Members of which it is not known that they granted nothing. */
    List<Member> inDoubt() {
        List<Member> members = new ArrayList<>(quorum.members());
        answers.stream()
                .filter(answer -> answer.value() != null && !(answer.value() instanceof Response.Granted))
                .forEach(answer -> members.remove(answer.member()));
        return members;
    }

    /** A TTL that a member cannot keep is the caller's mistake, not the member's failure: as if nobody had been asked. */
    RuntimeException failure() {
        for (Answer<Response> answer : answers) {
            if (answer.failure() instanceof IllegalArgumentException wrong) {
                return wrong;
            }
        }
        return quorum.failed(key, answers);
    }

    /** Whatever failed, others may have given up what they were asked to; unless all say that it was the caller's mistake. */
    RuntimeException inDoubtFailure() {
        boolean isMistake = answers.size() == quorum.members().size() && isMistake(answers);
        return isMistake ? failure() : quorum.failed(key, answers);
    }

    private static boolean isMistake(List<Answer<Response>> answers) {
        return answers.stream().allMatch(answer -> answer.failure() instanceof IllegalArgumentException);
    }

    private List<Vote> votes(List<Answer<Response>> from) {
        return from.stream().map(this::vote).toList();
    }

    private Vote vote(Answer<Response> answer) {
        Response response = answer.value();
        return response == null ? Vote.FAILED : votes.apply(response);
    }
}
