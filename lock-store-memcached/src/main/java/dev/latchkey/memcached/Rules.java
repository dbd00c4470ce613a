package dev.latchkey.memcached;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Who may hold what, decided from what was found. What is decided is written only if the item is still the same.
 *
 * <ol>
 *   <li>An exclusive hold needs that nobody else holds; a shared one, that nobody holds exclusively and no other reader
 *       waits to promote.
 *   <li>Of two readers that wait to promote, the second is refused: each would wait for the other.
 *   <li>Whoever lets anybody in changes the item. A reader whose sign was gone when a writer looked can therefore not
 *       come back unseen: its own change fails, or the writer's does.
 * </ol>
 *
 * @param live who holds, by the item and the signs that are there
 * @param sinceNanos before anything was asked, by this JVM's monotonic clock
 * @param time by which what is written ends
 */
record Rules(ItemState live, Request request, long sinceNanos, ServerTime time) {

    /** At least 3 s: a promoter asks again at least every second. */
    private static final int MARK_SECONDS = 5;

    /** One key's own live hold. */
    private record Own(LockMode mode, int seconds) {}

    Decision<Response> save() {
        Optional<Own> own = own();
        if (!isAsClaimed(own) && !isRepeatedDemotion(own)) {
            return Decision.leave(lost(own));
        }
        if (own.isEmpty()) {
            return admits()
                    ? hold(request.mode(), seconds(), othersMark())
                    : Decision.leave(Response.Conflicted.NO_HINT);
        }
        boolean promotes = own.get().mode() == LockMode.SHARED && request.mode() == LockMode.EXCLUSIVE;
        if (promotes && !otherReaders().isEmpty()) {
            return promotionRefused();
        }
        LockMode mode =
                promotes || request.isDemotion() ? request.mode() : own.get().mode();
        return hold(mode, seconds(own.get()), othersMark());
    }

    /** Says nothing about whether the key waits for promotion: its mark stays. */
    Decision<Response> refresh() {
        Optional<Own> own = own();
        return own.isEmpty() || !isAsClaimed(own)
                ? Decision.leave(lost(own))
                : hold(own.get().mode(), seconds(own.get()), live.promoter());
    }

    /** A reader that is listed has not been followed by a writer, also when its sign is gone. */
    static Decision<Boolean> delete(ItemState listed, Key key) {
        OwnerHash owner = OwnerHash.of(key);
        if (listed.writer().filter(one -> one.owner().equals(owner)).isPresent()) {
            return Decision.write(true, ItemState.FREE);
        }
        List<ItemState.Reader> others = without(listed.readers(), owner);
        if (others.size() == listed.readers().size()) {
            return Decision.leave(false);
        }
        ItemState rest = listed.withPromoter(listed.promoter().filter(one -> !one.equals(owner)))
                .withReaders(others);
        return Decision.write(true, rest).without(Set.of(new MarkerItem(MarkerItem.Kind.READS, owner)));
    }

    private OwnerHash owner() {
        return OwnerHash.of(request.key());
    }

    private int seconds() {
        return TtlSeconds.lastingAtLeast(request.ttl());
    }

    /** What is left of a hold the server does not tell: stored for as long as before, it does not end sooner. */
    private int seconds(Own own) {
        return request.leaseChange() == LeaseChange.SET ? seconds() : Math.max(seconds(), own.seconds());
    }

    private Optional<Own> own() {
        OwnerHash owner = owner();
        Optional<Own> writes = live.writer()
                .filter(one -> one.owner().equals(owner))
                .map(one -> new Own(LockMode.EXCLUSIVE, one.seconds()));
        return writes.or(() -> live.readers().stream()
                .filter(one -> one.owner().equals(owner))
                .map(one -> new Own(LockMode.SHARED, one.seconds()))
                .findFirst());
    }

    /** An exclusive hold that was demoted with the same key elsewhere is not the one claimed. */
    private boolean isAsClaimed(Optional<Own> own) {
        return request.key()
                .held()
                .map(Key.Held::mode)
                .map(claimed -> own.filter(hold -> claimed == LockMode.SHARED || hold.mode() == LockMode.EXCLUSIVE)
                        .isPresent())
                .orElse(true);
    }

    /** Its answer was lost: the shared hold is the one that it has made. */
    private boolean isRepeatedDemotion(Optional<Own> own) {
        return request.isDemotion()
                && own.filter(hold -> hold.mode() == LockMode.SHARED).isPresent();
    }

    private Response lost(Optional<Own> own) {
        if (own.isPresent()) {
            return new Response.Lost(LossReason.RELEASED_ELSEWHERE);
        }
        return new Response.Lost(live.isFree() ? LossReason.EXPIRED : LossReason.TAKEN_OVER);
    }

    private boolean admits() {
        if (live.writer().isPresent() || live.readers().size() >= ItemState.MOST_READERS) {
            return false;
        }
        return request.mode() == LockMode.EXCLUSIVE ? live.readers().isEmpty() : !anotherPromotes();
    }

    private boolean anotherPromotes() {
        return othersMark().isPresent();
    }

    private Optional<OwnerHash> othersMark() {
        return live.promoter().filter(one -> !one.equals(owner()));
    }

    private List<ItemState.Reader> otherReaders() {
        return without(live.readers(), owner());
    }

    private static List<ItemState.Reader> without(List<ItemState.Reader> readers, OwnerHash owner) {
        return readers.stream().filter(one -> !one.owner().equals(owner)).toList();
    }

    private Decision<Response> hold(LockMode mode, int seconds, Optional<OwnerHash> promoter) {
        Response granted = new Response.Granted(mode, OptionalLong.empty(), Lease.timed(sinceNanos, request.ttl()));
        if (mode == LockMode.EXCLUSIVE) {
            // The sign of a reader that promotes ends by itself: deleted late, it would be missing after a demotion.
            return Decision.write(
                    granted, ItemState.heldBy(new ItemState.Writer(owner(), seconds, time.lasting(seconds))));
        }
        List<ItemState.Reader> readers = new ArrayList<>(otherReaders());
        readers.add(new ItemState.Reader(owner(), seconds));
        return Decision.write(granted, new ItemState(Optional.empty(), readers, promoter))
                .with(new MarkerItem(MarkerItem.Kind.READS, owner()), seconds);
    }

    /** Leaves a mark that keeps new readers out as long as the promoter asks again, and takes it away with the last try. */
    private Decision<Response> promotionRefused() {
        boolean marked = live.promoter().filter(one -> one.equals(owner())).isPresent();
        if (request.retryIntent() == RetryIntent.ONCE) {
            return marked
                    ? Decision.write(Response.Conflicted.NO_HINT, live.withPromoter(Optional.empty()))
                    : Decision.leave(Response.Conflicted.NO_HINT);
        }
        if (anotherPromotes()) {
            return Decision.leave(new Response.Refused());
        }
        Decision<Response> refused = marked
                ? Decision.leave(Response.Conflicted.NO_HINT)
                : Decision.write(Response.Conflicted.NO_HINT, live.withPromoter(Optional.of(owner())));
        return refused.with(new MarkerItem(MarkerItem.Kind.PROMOTES, owner()), MARK_SECONDS);
    }
}
