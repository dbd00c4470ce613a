package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What members have of one hold, what it is together, and which of it counts for that. Guarded by the hold. */
final class HoldParts {

    /**
     * What one member has.
     *
     * @param confirmed the last save of which it is known
     */
    private record Part(Key.Held held, Lease lease, int confirmed) {}

    private final Quorum quorum;
    private final Key key;
    private final Map<Member, Part> parts = new HashMap<>();
    private OptionalLong fencingToken = OptionalLong.empty();
    private @Nullable LockMode mode;

    /** The exclusive hold that was demoted last. */
    private Optional<Key.Held> givenUp = Optional.empty();

    /** Whether it was elsewhere, where a member may have been asked to demote. */
    private boolean wasElsewhere;

    /** The save that made it exclusive: a part of before may have become a shared one. */
    private int exclusiveSince;

    HoldParts(Quorum quorum, Key key) {
        this.quorum = quorum;
        this.key = key;
        claimed(key);
    }

    void claimed(Key claiming) {
        wasElsewhere |= claiming.held().isPresent();
    }

    Optional<Key.Held> of(Member member) {
        return Optional.ofNullable(parts.get(member)).map(Part::held);
    }

    Optional<LockMode> mode() {
        return Optional.ofNullable(mode);
    }

    OptionalLong fencingToken() {
        return fencingToken;
    }

    void put(int save, Map<Member, Response.Granted> granted) {
        granted.forEach((member, told) -> {
            Part before = parts.get(member);
            int confirmed = before == null ? save : Math.max(before.confirmed(), save);
            parts.put(member, new Part(new Key.Held(told.mode(), told.fencingToken()), told.lease(), confirmed));
        });
    }

    void raised(Member member, long token) {
        parts.computeIfPresent(
                member,
                (any, part) -> new Part(
                        new Key.Held(part.held().mode(), OptionalLong.of(token)), part.lease(), part.confirmed()));
    }

    void remove(Member member) {
        parts.remove(member);
    }

    /** What was asked for has been granted by a save: it is exclusive since that, or was before; or shared. */
    void become(LockMode asked, OptionalLong token, int save, Map<Member, Response.Granted> granted) {
        if (asked == LockMode.EXCLUSIVE) {
            exclude(save, token);
        } else {
            share(granted);
        }
    }

    private void exclude(int save, OptionalLong token) {
        exclusiveSince = mode == LockMode.EXCLUSIVE ? exclusiveSince : save;
        mode = LockMode.EXCLUSIVE;
        fencingToken = token;
    }

    /** It is shared, unless a second Lock over the key asks for less than is held: that does not demote it. */
    private void share(Map<Member, Response.Granted> granted) {
        if (mode != LockMode.EXCLUSIVE) {
            demote();
        } else if (!quorum.isExclusive(key, granted)) {
            // Elsewhere, where also those that do not say so may have been promoted, and may still be asked to demote.
            wasElsewhere = true;
            parts.keySet().retainAll(granted.keySet());
            demote();
        }
    }

    private void demote() {
        mode = LockMode.SHARED;
        fencingToken = OptionalLong.empty();
    }

    /** A demotion gives up the exclusive hold that it claims. */
    void asked(Request request) {
        if (request.isDemotion() && fit(request.key().held())) {
            givenUp = request.key().held();
            demote();
        }
    }

    /** As {@link #fit(Optional)}; also for a demotion that is repeated, for its answer was lost. */
    boolean fit(Request request) {
        return fit(request.key().held())
                || (request.isDemotion()
                        && mode == LockMode.SHARED
                        && givenUp.equals(request.key().held()));
    }

    /** Whether one is exclusive of what is shared; of a hold that was elsewhere also one that was not seen since. */
    boolean mayBeDemoted(Member member) {
        return mode == LockMode.SHARED
                && of(member).map(held -> held.mode() == LockMode.EXCLUSIVE).orElse(wasElsewhere);
    }

    /** Whether they can be the hold that is claimed: an exclusive one has its token. */
    boolean fit(Optional<Key.Held> claimed) {
        return claimed.filter(held -> held.mode() == LockMode.EXCLUSIVE)
                .map(held -> mode == LockMode.EXCLUSIVE && fencingToken.equals(held.fencingToken()))
                .orElse(true);
    }

    boolean areMoreThan(Optional<Key.Held> claimed) {
        return mode == LockMode.EXCLUSIVE
                && claimed.filter(held -> held.mode() == LockMode.SHARED).isPresent();
    }

    /**
     * Whether those that count are enough, without those that do not last as long as was told: beside sessions, one whose lease
     * is not renewed may be another's by then.
     */
    boolean areEnough(Optional<Lease> told, Predicate<Lease> counts) {
        long lasting = parts.entrySet().stream()
                .filter(part -> !isSharedOnly(part.getKey(), part.getValue()))
                .map(part -> part.getValue().lease())
                .filter(lease -> told.isEmpty() || CombinedLease.lasts(lease, told.get()))
                .filter(counts)
                .count();
        return quorum.isMet((int) lasting);
    }

    /** Whether a member may have no more than a shared part of what is held exclusively: then it keeps no reader away. */
    private boolean isSharedOnly(Member member, Part part) {
        return mode == LockMode.EXCLUSIVE
                && (part.confirmed() < exclusiveSince
                        || part.held().mode() == LockMode.SHARED
                        || member.isSpent(key, LockMode.EXCLUSIVE));
    }
}
