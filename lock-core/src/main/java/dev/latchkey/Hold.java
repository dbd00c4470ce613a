package dev.latchkey;

import dev.latchkey.LockListener.Change;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a Lock believes it holds.
 *
 * @param deadline until when, less the drift margin; null where no time bounds the hold
 * @param isLive false as soon as its session may have ended
 */
record Hold(
        LockMode mode,
        OptionalLong fencingToken,
        @Nullable Deadline deadline,
        Optional<CompletionStage<LossReason>> lost,
        BooleanSupplier isLive) {

    static Hold of(Response.Granted granted) {
        Lease lease = granted.lease();
        Deadline deadline =
                lease.since().isPresent() ? Deadline.ofLease(lease.since().getAsLong(), lease.ttl()) : null;
        return new Hold(granted.mode(), granted.fencingToken(), deadline, lease.lost(), lease.isLive());
    }

    boolean isOver() {
        return isOverByTime() || !isLive.getAsBoolean();
    }

    /** Empty where no time bounds it. */
    Optional<Duration> remaining() {
        return Optional.ofNullable(deadline).map(Deadline::remaining);
    }

    /** Why it is over. */
    LossReason whyOver() {
        return isOverByTime() ? LossReason.EXPIRED : LossReason.SESSION_LOST;
    }

    /** Why the store does not have it any more, although nobody was told so far. */
    LossReason whyGone() {
        return isOver() ? whyOver() : lost.map(Hold::reasonOf).orElse(LossReason.RELEASED_ELSEWHERE);
    }

    private static LossReason reasonOf(CompletionStage<LossReason> signal) {
        CompletableFuture<LossReason> future = signal.toCompletableFuture();
        return future.isDone() && !future.isCompletedExceptionally() ? future.join() : LossReason.RELEASED_ELSEWHERE;
    }

    private boolean isOverByTime() {
        return deadline != null && deadline.isOver();
    }

    /** The same hold, ending at the earlier of the two moments: of two answers that crossed, either may be the last. */
    Hold endingBy(@Nullable Deadline other) {
        boolean isSooner = deadline != null && other != null && other.isBefore(deadline);
        return isSooner ? new Hold(mode, fencingToken, other, lost, isLive) : this;
    }

    /** The same hold, ending no later than the given moment, also if no time bounds it so far. */
    Hold endingAt(Deadline latest) {
        return deadline == null ? new Hold(mode, fencingToken, latest, lost, isLive) : endingBy(latest);
    }

    /** The other hold, ending when this one does. */
    Hold as(Hold other) {
        return new Hold(other.mode, other.fencingToken, deadline, lost, isLive);
    }

    Hold demoted() {
        return new Hold(LockMode.SHARED, OptionalLong.empty(), deadline, lost, isLive);
    }

    /** As it was when the request was made. */
    Hold asBefore(PendingRequest before) {
        return before.key()
                .held()
                .map(held -> new Hold(held.mode(), held.fencingToken(), deadline, lost, isLive))
                .orElse(this);
    }

    Key.Held claim() {
        return new Key.Held(mode, fencingToken);
    }

    /**
     * What a request to the store is based on, what it asks for, and what it gives up.
     *
     * @param key with what it claims to hold, as the store is told
     * @param tracker of the hold the request renews or changes; null when free or adopted
     * @param ttl what of a TTL may be asked for, so that the store, too, ends the hold with its max hold
     * @param change whether the request may end the lease sooner
     * @param latestEnd when the lease ends at the latest if the request is applied, however late; null if it ends no
     *     sooner
     * @param demotes whether the request gives up an exclusive hold for a shared one
     * @param sticky how long the hold may be kept after its release; zero: not at all
     */
    record PendingRequest(
            Key key,
            @Nullable HoldTracker tracker,
            boolean adopted,
            long revision,
            Duration ttl,
            LeaseChange change,
            @Nullable Deadline latestEnd,
            boolean demotes,
            Duration sticky) {

        /** Nothing was held before: whatever the request takes may be given back. */
        boolean isFresh() {
            return tracker == null && !adopted;
        }

        boolean givesUp() {
            return latestEnd != null || demotes;
        }

        /** As {@link #demoting()}, but claims the hold that an earlier demotion gave up: stores demote only what is claimed. */
        PendingRequest demoting(Key givenUp) {
            return new PendingRequest(givenUp, tracker, adopted, revision, ttl, change, latestEnd, true, sticky);
        }

        PendingRequest demoting() {
            return demoting(key);
        }

        PendingRequest endingBy(Deadline end, long newRevision) {
            return new PendingRequest(key, tracker, adopted, newRevision, ttl, LeaseChange.SET, end, demotes, sticky);
        }

        /** Whether what it claims is enough for a mode. */
        boolean holds(LockMode wanted) {
            return key.held()
                    .filter(held -> held.mode() == LockMode.EXCLUSIVE || wanted == LockMode.SHARED)
                    .isPresent();
        }

        /** The answer to a request for a mode, but not exclusive if both that and what the key claims are shared. */
        Hold atMost(LockMode asked, Hold answered) {
            boolean isShared = holds(LockMode.SHARED) && !holds(LockMode.EXCLUSIVE);
            return isShared && asked == LockMode.SHARED ? answered.demoted() : answered;
        }

        /** What a grant of the mode has changed. */
        Change changeTo(LockMode granted) {
            if (isFresh()) {
                return Change.BEGUN;
            }
            if (adopted) {
                return Change.ADOPTED;
            }
            if (key.held().map(Key.Held::mode).filter(granted::equals).isPresent()) {
                return Change.RENEWED;
            }
            return granted == LockMode.EXCLUSIVE ? Change.PROMOTED : Change.DEMOTED;
        }

        boolean isInOtherModeThan(Hold hold) {
            return key.held().filter(held -> held.mode() != hold.mode()).isPresent();
        }

        Request request(LockMode mode, String owner) {
            return new Request(key, mode, ttl, RetryIntent.ONCE, change, owner, sticky);
        }

        /** Asks for what is held already. */
        Request request(String owner) {
            return request(key.held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE), owner);
        }
    }

    /** Requests that give something up, and were not answered: they may still come to the store, or be in flight. */
    static final class Unanswered {

        private volatile List<PendingRequest> requests = List.of();

        synchronized void add(PendingRequest pending) {
            requests = Stream.concat(requests.stream(), Stream.of(pending)).toList();
        }

        /** The store has answered, or nothing was sent: what the request gave up can be had again. */
        void answered(PendingRequest pending) {
            if (pending.givesUp()) {
                synchronized (this) {
                    List<PendingRequest> rest = new ArrayList<>(requests);
                    rest.remove(pending);
                    requests = List.copyOf(rest);
                }
            }
        }

        void forget() {
            if (isAny()) {
                synchronized (this) {
                    requests = List.of();
                }
            }
        }

        boolean isAny() {
            return !requests.isEmpty();
        }

        /** Whether a demotion is among them: no exclusive hold is safe from it. */
        boolean mayDemote() {
            return isAny() && requests.stream().anyMatch(PendingRequest::demotes);
        }

        /** A demotion without an answer may come to the store after the promotion. */
        void check(String resource, LockMode wanted) {
            if (wanted == LockMode.EXCLUSIVE && mayDemote()) {
                throw new LockStorageException(
                        resource,
                        "an earlier request for a shared hold was not answered and may still demote this hold: release it, then acquire it again",
                        null);
            }
        }

        /** The request as a demotion, which repeats one among them with its claim. */
        PendingRequest demotion(PendingRequest pending) {
            return exclusiveClaim().map(pending::demoting).orElseGet(pending::demoting);
        }

        /** The key as the first demotion among them claimed its exclusive hold. */
        private Optional<Key> exclusiveClaim() {
            return requests.stream()
                    .filter(PendingRequest::demotes)
                    .map(PendingRequest::key)
                    .filter(key -> key.held().map(Key.Held::mode).orElse(LockMode.SHARED) == LockMode.EXCLUSIVE)
                    .findFirst();
        }

        /** What they leave of a hold. */
        Hold leave(Hold answered) {
            Hold left = answered;
            for (PendingRequest pending : requests) {
                left = left.endingBy(pending.latestEnd());
                left = pending.demotes() ? left.demoted() : left;
            }
            return left;
        }
    }
}
