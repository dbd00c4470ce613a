package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Looks at all members who holds a resource. */
final class HoldersRound {

    private static final Duration ENDLESS = Duration.ofSeconds(Long.MAX_VALUE);

    private final Quorum quorum;
    private final Key asking;
    private final MemberResponses<List<Holder>> ballot;

    /** The key is nobody's: it names the resource. */
    HoldersRound(Quorum quorum, Key asking) {
        this.quorum = quorum;
        this.asking = asking;
        this.ballot = new MemberResponses<>(quorum.members().size(), answer -> {});
        long end = quorum.end();
        for (Member member : quorum.members()) {
            ballot.expect(
                    member,
                    member.callBefore(
                            end,
                            asking,
                            () -> member.store()
                                    .capability(InspectableStore.class)
                                    .orElseThrow()
                                    .holders(asking.resource())));
        }
    }

    List<Holder> finish() {
        List<Answer<List<Holder>>> answers = ballot.await(soFar -> false, quorum.end());
        List<List<Holder>> seen =
                answers.stream().map(Answer::value).filter(Objects::nonNull).toList();
        if (!quorum.isMet(seen.size())) {
            throw quorum.failed(asking, answers);
        }
        List<Holder> writers = of(LockMode.EXCLUSIVE, seen).stream()
                .map(holders -> holders.get(0))
                .toList();
        return quorum.isMet(writers.size()) ? List.of(together(writers)) : readers(of(LockMode.SHARED, seen));
    }

    private static List<List<Holder>> of(LockMode mode, List<List<Holder>> seen) {
        return seen.stream()
                .map(holders -> holders.stream()
                        .filter(holder -> holder.mode() == mode)
                        .sorted(Comparator.comparing(HoldersRound::rest).reversed())
                        .toList())
                .filter(holders -> !holders.isEmpty())
                .toList();
    }

    /** As many as a quorum sees; whose rest is whose is a guess, from the longest on. */
    private List<Holder> readers(List<List<Holder>> seen) {
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> seen.stream()
                        .filter(holders -> holders.size() > i)
                        .map(holders -> holders.get(i))
                        .toList())
                .takeWhile(parts -> quorum.isMet(parts.size()))
                .map(this::together)
                .toList();
    }

    /** One hold, as members see it: it lasts as long as a quorum of its parts. */
    private Holder together(List<Holder> parts) {
        List<Holder> longestFirst = parts.stream()
                .sorted(Comparator.comparing(HoldersRound::rest).reversed())
                .toList();
        Holder last = longestFirst.get(quorum.size() - 1);
        return new Holder(
                last.mode(),
                token(parts),
                last.remaining(),
                parts.stream().flatMap(part -> part.description().stream()).findFirst());
    }

    private static Duration rest(Holder holder) {
        return holder.remaining().orElse(ENDLESS);
    }

    /** What most say: some may not have been raised to it yet. */
    private static OptionalLong token(List<Holder> parts) {
        Map<Long, Long> counts = parts.stream()
                .flatMap(part -> part.fencingToken().stream().boxed())
                .collect(Collectors.groupingBy(token -> token, Collectors.counting()));
        return counts.entrySet().stream()
                .max(Map.Entry.<Long, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(entry -> OptionalLong.of(entry.getKey()))
                .orElse(OptionalLong.empty());
    }
}
