package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who holds one resource; guarded by the stripe. An ended lease counts for nothing, but stays until somebody else is granted
 * the resource, so that a late release can tell whether the resource changed hands.
 */
final class ResourceHolders {

    static final Response.Lost EXPIRED = new Response.Lost(LossReason.EXPIRED);

    private static final Response.Lost TAKEN_OVER = new Response.Lost(LossReason.TAKEN_OVER);
    private static final Response.Lost RELEASED = new Response.Lost(LossReason.RELEASED_ELSEWHERE);
    private static final Response.Lost FORCED = new Response.Lost(LossReason.FORCED);

    /** How long a recalled holder may take to release what it only keeps; after that, it is taken to use it. */
    private static final long RECALL_NANOS = Duration.ofMillis(50).toNanos();

    /** How long it is remembered that a hold was ended by force: its holder was told, and may ask at that moment. */
    private static final long REMEMBERED_NANOS = Duration.ofMinutes(1).toNanos();

    /**
     * How many were told of one hold, since several Locks over one key may wait for it, and what the key held before; who was
     * granted it, when, and how its end by force is told: to all Locks over the key, whichever of them has promoted it.
     */
    static final class Stake {

        private @Nullable Grant before;
        private final String owner;
        private final long sinceNanos;
        private final CompletableFuture<LossReason> lost;

        /** Null if the hold is not sticky. */
        private final @Nullable Recall recall;

        private int told;

        Stake(@Nullable Grant before, Request request, long now) {
            this.before = before;
            this.owner = request.owner();
            this.sinceNanos = now;
            this.lost = before == null ? new CompletableFuture<>() : before.stake().lost;
            this.recall = request.isSticky() ? new Recall() : null;
        }

        /** Nobody gives it back any more, and what was before it is not kept. */
        void settle() {
            before = null;
        }
    }

    /** The recall of a sticky hold. */
    private static final class Recall {

        private final CompletableFuture<Void> recalled = new CompletableFuture<>();
        private long atNanos;
        private boolean isSent;

        /** Sends it, unless that was done before. Returns whether the holder has had no time to answer. */
        boolean send(long now, Recalls recalls) {
            if (!isSent) {
                isSent = true;
                atNanos = now;
                recalls.add(recalled);
            }
            return now - atNanos < RECALL_NANOS;
        }
    }

    /**
     * One holder's hold, by the store's clock.
     *
     * @param lastToken the greatest fencing token that its holder may use without asking
     */
    record Grant(LockMode mode, OptionalLong fencingToken, long endNanos, Stake stake, long lastToken) {

        boolean isLive(long now) {
            return endNanos - now > 0;
        }

        /** A hold that was demoted, or released and taken anew, with the same key elsewhere is not the one claimed. */
        boolean isAsClaimed(Key.Held claimed) {
            return claimed.mode() == LockMode.SHARED
                    || (mode == LockMode.EXCLUSIVE
                            && (fencingToken.equals(claimed.fencingToken()) || isReserved(claimed)));
        }

        private boolean isReserved(Key.Held claimed) {
            long token = claimed.fencingToken().orElse(0);
            return fencingToken.isPresent() && token > fencingToken.getAsLong() && token <= lastToken;
        }

        /** The same hold under the token that its holder claims, if that is one of those that are reserved for it. */
        Grant as(Key key) {
            return key.held()
                    .filter(this::isReserved)
                    .map(claimed -> new Grant(mode, claimed.fencingToken(), endNanos, stake, lastToken))
                    .orElse(this);
        }

        Response.Granted answer(long now) {
            Lease lease = new Lease(
                    OptionalLong.of(now),
                    Duration.ofNanos(endNanos - now),
                    Optional.of(stake.lost),
                    Lease.ALWAYS,
                    stake.recall == null ? Optional.empty() : Optional.of(stake.recall.recalled));
            return new Response.Granted(mode, fencingToken, lease);
        }
    }

    /** The end of a hold by force. */
    private record Forced(CompletableFuture<LossReason> lost, long atNanos) {}

    private final Map<String, Grant> byToken = new HashMap<>(4);

    /** The holds that were ended by force not long ago, by token; null if none was. */
    private @Nullable Map<String, Forced> forced;

    /** Whether there may be a sticky hold. */
    private boolean mayRecall;

    @Nullable Grant live(Key key, long now) {
        Grant own = byToken.get(key.token());
        return own != null && own.isLive(now) ? own : null;
    }

    Response.Granted put(Key key, Grant grant, long now) {
        byToken.put(key.token(), grant);
        mayRecall |= grant.stake().recall != null;
        if (forced != null) {
            forced.remove(key.token());
        }
        return grant.answer(now);
    }

    /** As {@link #put} for an answer to somebody who may still turn out not to take it. */
    Response.Granted tell(Key key, Grant grant, long now) {
        grant.stake().told++;
        return put(key, grant, now);
    }

    /**
     * One of those who were told of a hold does not take it. The last of them has what was held before put back, until the end
     * it has now: it may have been refreshed or released.
     */
    void giveBack(Key key, Stake stake) {
        Grant now = byToken.get(key.token());
        stake.told--;
        if (now == null || now.stake() != stake || stake.told > 0) {
            return;
        }
        Grant before = stake.before;
        if (before == null) {
            byToken.remove(key.token());
        } else {
            byToken.put(
                    key.token(),
                    new Grant(
                            before.mode(), before.fencingToken(), now.endNanos(), before.stake(), before.lastToken()));
        }
    }

    /** False if the key was not the last holder. */
    boolean remove(Key key) {
        return byToken.remove(key.token()) != null;
    }

    /** Removes the exclusive hold with this fencing token. Returns what tells its holder; empty if there is no such hold. */
    Optional<CompletableFuture<LossReason>> removeForced(long fencingToken, long now) {
        Optional<Map.Entry<String, Grant>> found = byToken.entrySet().stream()
                .filter(entry -> entry.getValue().isLive(now))
                .filter(entry -> entry.getValue().fencingToken().equals(OptionalLong.of(fencingToken)))
                .findFirst();
        found.ifPresent(entry -> {
            byToken.remove(entry.getKey());
            remember(entry.getKey(), new Forced(entry.getValue().stake().lost, now));
        });
        return found.map(entry -> entry.getValue().stake().lost);
    }

    private void remember(String token, Forced end) {
        Map<String, Forced> all = forced == null ? new HashMap<>(4) : forced;
        all.values().removeIf(earlier -> end.atNanos() - earlier.atNanos() > REMEMBERED_NANOS);
        all.put(token, end);
        forced = all;
    }

    /** Returns what tells the Locks over a key that its hold was ended by force; empty if it was not. */
    Optional<CompletableFuture<LossReason>> forced(Key key) {
        return Optional.ofNullable(forced).map(all -> all.get(key.token())).map(Forced::lost);
    }

    void removeEnded(long now) {
        byToken.values().removeIf(grant -> !grant.isLive(now));
    }

    /** Whether nobody else keeps the key from holding in this mode. */
    boolean admits(Key key, LockMode mode, long now) {
        for (Map.Entry<String, Grant> entry : byToken.entrySet()) {
            Grant other = entry.getValue();
            boolean excludes = mode == LockMode.EXCLUSIVE || other.mode() == LockMode.EXCLUSIVE;
            if (excludes && other.isLive(now) && !entry.getKey().equals(key.token())) {
                return false;
            }
        }
        return true;
    }

    /** Why what the key claims is not what it has. */
    Response lost(Key key, @Nullable Grant own, long now) {
        if (own != null) {
            return RELEASED;
        }
        if (forced(key).isPresent()) {
            return FORCED;
        }
        boolean isTaken = byToken.entrySet().stream()
                .anyMatch(entry ->
                        !entry.getKey().equals(key.token()) && entry.getValue().isLive(now));
        return isTaken ? TAKEN_OVER : EXPIRED;
    }

    /** What a request is refused with; whoever keeps the resource from it is recalled. */
    Response conflict(Request request, long now, Recalls recalls) {
        Duration retryAfter = Duration.ofNanos(
                lives(now).mapToLong(grant -> grant.endNanos() - now).max().orElse(0));
        return new Response.Conflicted(retryAfter, recall(request, now, recalls));
    }

    /** Recalls the sticky holds that keep a request from being granted. Returns whether they alone do, and may end at once. */
    boolean recall(Request request, long now, Recalls recalls) {
        if (!mayRecall) {
            return false;
        }
        boolean mayEnd = false;
        boolean isUsed = false;
        for (Map.Entry<String, Grant> entry : byToken.entrySet()) {
            Grant other = entry.getValue();
            boolean excludes = request.mode() == LockMode.EXCLUSIVE || other.mode() == LockMode.EXCLUSIVE;
            if (excludes
                    && other.isLive(now)
                    && !entry.getKey().equals(request.key().token())) {
                Recall recall = other.stake().recall;
                boolean answers = recall != null && recall.send(now, recalls);
                mayEnd |= answers;
                isUsed |= !answers;
            }
        }
        return mayEnd && !isUsed;
    }

    long nanosToNextEnd(long now) {
        return lives(now).mapToLong(grant -> grant.endNanos() - now).min().orElse(0);
    }

    List<Holder> holders(long now) {
        return lives(now)
                .map(grant -> new Holder(
                        grant.mode(),
                        grant.fencingToken(),
                        Optional.of(Duration.ofNanos(grant.endNanos() - now)),
                        Optional.of(Duration.ofNanos(now - grant.stake().sinceNanos)),
                        Optional.of(grant.stake().owner).filter(owner -> !owner.isEmpty())))
                .toList();
    }

    boolean isEmpty() {
        return byToken.isEmpty() && forced == null;
    }

    boolean areOverAt(long then) {
        return lives(then).findAny().isEmpty();
    }

    /** Whether somebody may still have to be told then how a hold has ended. */
    boolean isRememberedAt(long then) {
        return forced != null && forced.values().stream().anyMatch(end -> end.atNanos() - then > 0);
    }

    private Stream<Grant> lives(long now) {
        return byToken.values().stream().filter(grant -> grant.isLive(now));
    }
}
