package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.combined.MemberResponses.Answer;
import dev.latchkey.combined.VoteCount.Vote;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The members of a combined store, how many must agree, and what is held with them through this store. */
final class Quorum {

    private static final int SWEEP_FROM = 1_024;
    private static final long KEPT_NANOS = Duration.ofMinutes(1).toNanos();

    private final List<Member> members;
    private final Strategy strategy;
    private final long patienceNanos;
    private final int size;
    private final int fencing;
    private final int leasing;

    /** Whose token is that of the hold where all members are in every quorum; empty: the first that has one. */
    private final Optional<Member> designated;

    private final ConcurrentMap<String, CombinedHold> holds = new ConcurrentHashMap<>();
    private final LeaseEnds leaseEnds = new LeaseEnds();

    Quorum(List<Member> members, Strategy strategy, Duration patience) {
        this.members = members;
        this.strategy = strategy;
        this.patienceNanos = patience.toNanos();
        this.size = VoteCount.quorum(strategy, members.size());
        this.designated =
                members.stream().filter(member -> member.fencing().isPresent()).findFirst();
        this.fencing = (int)
                members.stream().filter(member -> member.fencing().isPresent()).count();
        this.leasing = (int)
                members.stream().filter(member -> member.expiring().isPresent()).count();
    }

    List<Member> members() {
        return members;
    }

    LeaseEnds leaseEnds() {
        return leaseEnds;
    }

    int size() {
        return size;
    }

    boolean isMet(int successes) {
        return strategy.isMet(successes, members.size());
    }

    /** Whether all but so many members are enough. */
    boolean canBeMetWithout(int others) {
        return strategy.canBeMet(others, members.size());
    }

    /** How long a member may take to answer. */
    long patienceNanos() {
        return patienceNanos;
    }

    /** Until when members asked now may answer. */
    long end() {
        return System.nanoTime() + patienceNanos;
    }

    /** The same for one to whom an answer is of use for so long only. */
    long endWithin(Duration within) {
        return System.nanoTime() + Math.min(patienceNanos, within.toNanos());
    }

    VoteCount.Verdict early(Collection<Vote> votes) {
        return VoteCount.early(votes, strategy, members.size());
    }

    VoteCount.Verdict last(Collection<Vote> votes) {
        return VoteCount.last(votes, strategy, members.size());
    }

    /** Whether every member is in every quorum: then the token of one of them is as good as one agreed on. */
    boolean isUnanimous() {
        return size == members.size();
    }

    /** What a request asks for where some members have leases and others have not; else empty. */
    Optional<Lease> leaseOf(Request request, long sentNanos) {
        return isMixed() ? Optional.of(Lease.timed(sentNanos, request.ttl())) : Optional.empty();
    }

    /** Whether some members have leases and others have not. */
    boolean isMixed() {
        return leasing > 0 && leasing < members.size();
    }

    /** Whether some members have no leases: what they grant does not leave the process. */
    boolean isBoundToProcess() {
        return leasing < members.size();
    }

    boolean sharesMembersWith(Quorum other) {
        return members.stream().anyMatch(mine -> other.members.stream().anyMatch(its -> its.store() == mine.store()));
    }

    /** How many members keep a fencing token that can be raised. */
    int fencing() {
        return fencing;
    }

    /** Whether a majority of those that keep a fencing token is in some quorum. */
    boolean agreesOnTokens() {
        return !isUnanimous() && fencing > 0;
    }

    /** What this store knows of the hold the key claims; empty also if what it knows is another hold. */
    Optional<CombinedHold> hold(Key key) {
        return known(key).filter(hold -> hold.fits(key.held()));
    }

    /** As {@link #hold(Key)}, for a request to save. */
    Optional<CombinedHold> hold(Request request) {
        return known(request.key()).filter(hold -> hold.fits(request));
    }

    /** Not what is only being taken. */
    private Optional<CombinedHold> known(Key key) {
        return Optional.ofNullable(holds.get(key.token()))
                .filter(hold -> hold.mode().isPresent());
    }

    /** Whether the key claims an exclusive hold before the one that is known here: its request comes late. */
    boolean isOutdated(Key key) {
        OptionalLong claimed = key.held().map(Key.Held::fencingToken).orElse(OptionalLong.empty());
        OptionalLong known = Optional.ofNullable(holds.get(key.token()))
                .map(CombinedHold::fencingToken)
                .orElse(OptionalLong.empty());
        return claimed.isPresent() && known.isPresent() && claimed.getAsLong() < known.getAsLong();
    }

    CombinedHold holdOrNew(Key key) {
        sweepIfGrown();
        return holds.compute(key.token(), (token, known) -> {
            if (known != null && (known.fits(key.held()) || known.mode().isEmpty())) {
                known.claimed(key);
                return known;
            }
            if (known != null) {
                known.superseded();
            }
            return new CombinedHold(this, key);
        });
    }

    /** What the same key holds is something else by now. False if there was a save since a question, or when it was asked. */
    boolean supersede(Key key, CombinedHold hold, int savesBefore) {
        if (!hold.supersededUnlessSaved(savesBefore)) {
            return false;
        }
        holds.computeIfPresent(key.token(), (token, known) -> known == hold && !hold.hasEnded() ? null : known);
        return true;
    }

    boolean isHeldAs(Key key, CombinedHold hold) {
        return holds.get(key.token()) == hold && !hold.hasEnded();
    }

    /**
     * Returns what the key has here, also what is only being taken, or the end of it, of which members are about to undo
     * something; empty if that is not to be. Whoever calls this leaves it once members are asked.
     */
    Optional<CombinedHold> beginUndo(Key key, Predicate<CombinedHold> begins) {
        List<CombinedHold> undone = new ArrayList<>();
        holds.compute(key.token(), (token, known) -> {
            CombinedHold hold = known == null ? CombinedHold.ended(this, key) : known;
            if (begins.test(hold)) {
                undone.add(hold);
            }
            return hold;
        });
        return undone.stream().findFirst();
    }

    /**
     * Gives back what is left of a hold that has ended, without waiting for it: nothing would end a part without a lease.
     *
     * @param inDoubt all but those that have just said that they have none: the same key, given to another process, may hold
     *     there anew
     * @param told complete when the holder has been told: until then nobody else is to have it
     */
    void giveUp(Key key, CombinedHold ended, Collection<Member> inDoubt, CompletableFuture<?> told) {
        try {
            for (Member member : inDoubt) {
                var unused = member.deleteAfter(told, key.claiming(ended.part(member)));
            }
        } finally {
            // Also if no thread is to be had: else it would be kept as if it still went on.
            leave(key, ended);
        }
    }

    /**
     * Forgets a hold that has ended, once for each who has undone something of it or found that it goes on elsewhere. Not
     * before members are asked: what the same key takes from now on comes after that at each of them.
     */
    void leave(Key key, CombinedHold undone) {
        holds.computeIfPresent(key.token(), (token, known) -> known == undone && undone.undoEnds() ? null : known);
    }

    /** Leases that ran out without a release must not fill the memory. */
    private void sweepIfGrown() {
        if (holds.size() >= SWEEP_FROM && holds.size() % SWEEP_FROM == 0) {
            long then = System.nanoTime() - KEPT_NANOS;
            holds.values().removeIf(hold -> hold.wasOverAt(then) && !hold.hasEnded());
        }
    }

    /**
     * Returns the key as one member should see it: members count by tokens of their own. Of a hold taken elsewhere these
     * are not known, and the member is told no more than that something is held.
     *
     * @param hold what is known here of what the key claims, also where a demotion has ended that since
     */
    Key keyFor(Member member, Key key, Optional<CombinedHold> hold) {
        return key.claiming(key.held().map(claimed -> claimFor(member, claimed, hold)));
    }

    private Key.Held claimFor(Member member, Key.Held claimed, Optional<CombinedHold> hold) {
        Key.Held something = new Key.Held(LockMode.SHARED, OptionalLong.empty());
        if (claimed.mode() == LockMode.SHARED) {
            return something;
        }
        Optional<Key.Held> known = hold.flatMap(of -> of.part(member));
        if (known.isPresent()) {
            return known.get();
        }
        boolean countsByIt = isUnanimous()
                ? designated.equals(Optional.of(member))
                : member.fencing().isPresent();
        return countsByIt ? claimed : something;
    }

    /** Whether so many have it exclusively, and will keep it so, that no reader gets in. */
    boolean isExclusive(Key key, Map<Member, Response.Granted> parts) {
        long exclusive = parts.entrySet().stream()
                .filter(part -> part.getValue().mode() == LockMode.EXCLUSIVE)
                .filter(part -> !part.getKey().isSpent(key, LockMode.EXCLUSIVE))
                .count();
        return isMet((int) exclusive);
    }

    /** The token of an exclusive hold that was taken elsewhere: what most of these members say; a late one says more. */
    OptionalLong agreed(Map<Member, Response.Granted> parts) {
        if (isUnanimous()) {
            return tokens(parts)
                    .filter(part -> designated.isEmpty() || designated.get() == part.getKey())
                    .map(part -> part.getValue().fencingToken())
                    .findFirst()
                    .orElse(OptionalLong.empty());
        }
        List<Long> tokens = tokens(parts)
                .filter(part -> part.getKey().fencing().isPresent())
                .map(part -> part.getValue().fencingToken().orElseThrow())
                .toList();
        if (tokens.isEmpty()) {
            return OptionalLong.empty();
        }
        Map<Long, Long> counts =
                tokens.stream().collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
        long most = Collections.max(counts.values());
        return counts.entrySet().stream()
                .filter(entry -> entry.getValue() == most)
                .mapToLong(Map.Entry::getKey)
                .min();
    }

    private static Stream<Map.Entry<Member, Response.Granted>> tokens(Map<Member, Response.Granted> parts) {
        return parts.entrySet().stream()
                .filter(part -> part.getValue().fencingToken().isPresent());
    }

    /** Too few members answered: says how many, and why the first did not. */
    LockStorageException failed(Key key, Collection<? extends Answer<?>> answers) {
        List<Throwable> failures =
                answers.stream().map(Answer::failure).filter(Objects::nonNull).toList();
        int silent = members.size() - answers.size();
        Throwable cause = failures.isEmpty() ? null : failures.get(0);
        return new LockStorageException(
                key.resource(),
                "too few of the " + members.size() + " members of the combined store answered: " + failures.size()
                        + " failed, " + silent + " did not answer within " + Duration.ofNanos(patienceNanos)
                        + (cause == null ? "" : "; the first failure: " + cause.getMessage()),
                cause);
    }
}
