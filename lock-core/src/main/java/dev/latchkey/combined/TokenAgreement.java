package dev.latchkey.combined;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How independent stores agree on one fencing token, after each has granted with one of its own, greater than any it gave
 * or was raised to before: the greatest of them is it, once more than half of all members that can keep one have it while
 * the key holds there. Two such majorities have a member in common, whose later owner got a greater one. Pure: the
 * simulator of the protocol runs it as well.
 *
 * @param <M> what stands for a member
 * @param token what they are to agree on
 * @param raised members that have it already
 * @param behind members that have to be raised to it
 */
record TokenAgreement<M>(long token, Set<M> raised, Set<M> behind) {

    /** Begins with what the members granted, at least one. */
    static <M> TokenAgreement<M> of(Map<M, Long> granted) {
        long greatest =
                granted.values().stream().mapToLong(Long::longValue).max().orElseThrow();
        Map<Boolean, Set<M>> has = granted.keySet().stream()
                .collect(Collectors.partitioningBy(
                        member -> granted.getOrDefault(member, 0L) == greatest, Collectors.toUnmodifiableSet()));
        return new TokenAgreement<>(greatest, has.getOrDefault(true, Set.of()), has.getOrDefault(false, Set.of()));
    }

    /** Whether the token is sound with these members beside those that had it from the beginning. */
    boolean isSound(Collection<M> alsoRaised, int fencingMembers) {
        return raised.size() + alsoRaised.size() >= majority(fencingMembers);
    }

    /**
     * Whether an owner that held with a token before, and is granted again, has that token still: so many members say it that
     * nobody can have agreed on a greater one meanwhile. That no member says otherwise is not enough.
     *
     * @param token what was agreed on
     * @param granted what members that keep tokens answer now
     */
    static <M> boolean isKept(long token, Map<M, Long> granted, int fencingMembers) {
        return granted.values().stream().filter(answer -> answer == token).count() >= majority(fencingMembers);
    }

    static int majority(int fencingMembers) {
        return fencingMembers / 2 + 1;
    }
}
