package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.spi.Durability;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Has the members that granted an exclusive hold agree on its fencing token. What was agreed on last is remembered for
 * some resources, and how the members' clocks go, so that the next hold begins with a proposal they can agree on at once.
 */
final class TokenRaise {

    private static final int REMEMBERED = 1_000;

    /**
     * A number the members may all accept.
     *
     * @param token zero if there is nothing to go by
     * @param sentNanos when they are asked
     */
    record Proposal(long token, long sentNanos) {}

    private final Quorum quorum;
    private final boolean followsClocks;
    private final TokenProposal pace = new TokenProposal();
    private final Map<String, Long> lastTokens = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > REMEMBERED;
        }
    };

    TokenRaise(Quorum quorum) {
        this.quorum = quorum;
        this.followsClocks = quorum.members().stream()
                .flatMap(member -> member.fencing().stream())
                .anyMatch(store -> store.survives() == Durability.BY_THE_CLOCK);
    }

    Proposal proposal(String resource) {
        long now = System.nanoTime();
        long byTheClocks = followsClocks ? pace.at(now) : 0;
        synchronized (lastTokens) {
            Long last = lastTokens.get(resource);
            return new Proposal(Math.max(byTheClocks, last == null ? 0 : last + 1), now);
        }
    }

    /**
     * Agrees on a token, which the members then count as theirs.
     *
     * @param proposal what they were asked for
     * @param granted by member, in their order; those that were raised are replaced
     * @return the token, empty where these members cannot have a sound one; nothing if some have lost their part meanwhile
     */
    Optional<OptionalLong> agree(Key key, Proposal proposal, Map<Member, Response.Granted> granted) {
        if (!quorum.agreesOnTokens()) {
            return Optional.of(quorum.agreed(granted));
        }
        Map<Member, Long> tokens = tokens(granted);
        if (tokens.size() < TokenAgreement.majority(quorum.fencing())) {
            return Optional.of(OptionalLong.empty());
        }
        TokenAgreement<Member> fence = TokenAgreement.of(tokens);
        if (!fence.isSound(Set.of(), quorum.fencing())) {
            pace.learn(proposal.token(), fence.token(), proposal.sentNanos(), System.nanoTime());
            Set<Member> raised = raise(key, fence);
            raised.forEach(member -> granted.computeIfPresent(member, (any, part) -> with(part, fence.token())));
            if (!fence.isSound(raised, quorum.fencing())) {
                return Optional.empty();
            }
        }
        synchronized (lastTokens) {
            lastTokens.put(key.resource(), fence.token());
        }
        return Optional.of(OptionalLong.of(fence.token()));
    }

    /** What those say of the granting members that keep tokens. */
    static Map<Member, Long> tokens(Map<Member, Response.Granted> granted) {
        Map<Member, Long> tokens = new LinkedHashMap<>();
        granted.forEach((member, part) -> {
            if (member.fencing().isPresent() && part.fencingToken().isPresent()) {
                tokens.put(member, part.fencingToken().getAsLong());
            }
        });
        return tokens;
    }

    private Set<Member> raise(Key key, TokenAgreement<Member> fence) {
        MemberResponses<Boolean> ballot = new MemberResponses<>(fence.behind().size(), answer -> {});
        long end = quorum.end();
        for (Member member : fence.behind()) {
            FencingStore store = member.fencing().orElseThrow();
            ballot.expect(member, member.callBefore(end, key, () -> store.raiseFence(key, fence.token())));
        }
        List<Answer<Boolean>> answers = ballot.await(soFar -> fence.isSound(raised(soFar), quorum.fencing()), end);
        return raised(answers);
    }

    private static Set<Member> raised(List<Answer<Boolean>> answers) {
        List<Member> raised = new ArrayList<>();
        answers.forEach(answer -> {
            if (Boolean.TRUE.equals(answer.value())) {
                raised.add(answer.member());
            }
        });
        return new HashSet<>(raised);
    }

    private static Response.Granted with(Response.Granted part, long token) {
        Lease lease = part.lease();
        return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(token), lease);
    }
}
