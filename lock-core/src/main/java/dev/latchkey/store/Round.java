package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.spi.Attempt;
import dev.latchkey.store.Ballot.Answer;
import dev.latchkey.store.Tally.Verdict;
import dev.latchkey.store.Tally.Vote;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/** One question to all members at once, whose answer is an {@link Attempt}. */
final class Round {

    /** Asks one member, for as long as the answer is of use. */
    interface Ask {

        CompletableFuture<Attempt> begin(Member member, long endNanos);
    }

    private final Quorum quorum;
    private final Key key;
    private final Function<Attempt, Vote> votes;
    private final long end;
    private final CompletableFuture<Consumer<Answer<Attempt>>> late = new CompletableFuture<>();
    private final Ballot<Attempt> ballot;
    private List<Answer<Attempt>> answers = List.of();

    Round(Quorum quorum, Key key, Function<Attempt, Vote> votes, Ask ask) {
        this(quorum, key, votes, quorum.end(), ask);
    }

    Round(Quorum quorum, Key key, Function<Attempt, Vote> votes, long end, Ask ask) {
        this.quorum = quorum;
        this.key = key;
        this.votes = votes;
        this.end = end;
        this.ballot = new Ballot<>(quorum.members().size(), answer -> {
            var unused = late.thenAccept(handler -> handler.accept(answer));
        });
        for (Member member : quorum.members()) {
            ballot.expect(member, ask.begin(member, end));
        }
    }

    /** Waits until the members have decided, and whatever else is wanted of their answers. */
    Verdict await(Predicate<List<Answer<Attempt>>> isComplete) {
        answers = ballot.await(
                soFar -> switch (quorum.early(votes(soFar))) {
                    case OPEN -> false;
                    case GRANTED -> isComplete.test(soFar);
                    default -> true;
                },
                end);
        return quorum.last(votes(answers));
    }

    /** Says what is to become of answers that come after the decision. To be called once, after {@link #await}. */
    void onLate(Consumer<Answer<Attempt>> handler) {
        late.complete(handler);
    }

    List<Answer<Attempt>> answers() {
        return answers;
    }

    /** What members granted, in their order. */
    Map<Member, Attempt.Granted> granted() {
        return granted(answers);
    }

    static Map<Member, Attempt.Granted> granted(List<Answer<Attempt>> answers) {
        Map<Member, Attempt.Granted> granted = new LinkedHashMap<>();
        answers.stream()
                .sorted((one, other) -> one.member().number() - other.member().number())
                .forEach(answer -> {
                    if (answer.value() instanceof Attempt.Granted part) {
                        granted.put(answer.member(), part);
                    }
                });
        return granted;
    }

    /** Members of which it is not known that they granted nothing. */
    List<Member> inDoubt() {
        List<Member> members = new ArrayList<>(quorum.members());
        answers.stream()
                .filter(answer -> answer.value() != null && !(answer.value() instanceof Attempt.Granted))
                .forEach(answer -> members.remove(answer.member()));
        return members;
    }

    /** A TTL that a member cannot keep is the caller's mistake, not the member's failure. */
    RuntimeException failure() {
        for (Answer<Attempt> answer : answers) {
            if (answer.failure() instanceof IllegalArgumentException wrong) {
                return wrong;
            }
        }
        return quorum.failed(key, answers);
    }

    private List<Vote> votes(List<Answer<Attempt>> from) {
        return from.stream().map(this::vote).toList();
    }

    private Vote vote(Answer<Attempt> answer) {
        Attempt attempt = answer.value();
        return attempt == null ? Vote.FAILED : votes.apply(attempt);
    }
}
