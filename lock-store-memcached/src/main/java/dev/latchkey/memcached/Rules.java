package dev.latchkey.memcached;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.Request;
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
 * @param holdings what to write about a hold of so many seconds
 */
record Rules(State live, Request request, long sinceNanos, Holdings holdings) {

    /** At least 3 s: a promoter asks again at least every second. */
    private static final int MARK_SECONDS = 5;

    /** One key's own live hold. */
    private record Own(LockMode mode, int seconds) {}

    Decision<Attempt> save() {
        Optional<Own> own = own();
        if (!isAsClaimed(own)) {
            return Decision.leave(lost(own));
        }
        if (own.isEmpty()) {
            return admits() ? hold(request.mode(), seconds()) : Decision.leave(Attempt.Conflicted.NO_HINT);
        }
        boolean promotes = own.get().mode() == LockMode.SHARED && request.mode() == LockMode.EXCLUSIVE;
        if (promotes && !otherReaders().isEmpty()) {
            return promotionRefused();
        }
        return hold(request.mode(), seconds(own.get()));
    }

    Decision<Attempt> refresh() {
        Optional<Own> own = own();
        return own.isEmpty() || !isAsClaimed(own)
                ? Decision.leave(lost(own))
                : hold(own.get().mode(), seconds(own.get()));
    }

    /** Stores once more what was just granted, whatever was claimed before that; empty if it is gone. */
    Optional<Decision<Attempt>> again() {
        return own().map(own -> hold(own.mode(), own.seconds()));
    }

    /** A reader that is listed has not been followed by a writer, also when its sign is gone. */
    static Decision<Boolean> delete(State listed, Key key) {
        Owner owner = Owner.of(key);
        if (listed.writer().filter(one -> one.owner().equals(owner)).isPresent()) {
            return Decision.write(true, State.FREE);
        }
        List<State.Reader> others = without(listed.readers(), owner);
        if (others.size() == listed.readers().size()) {
            return Decision.leave(false);
        }
        State rest = listed.withPromoter(listed.promoter().filter(one -> !one.equals(owner)))
                .withReaders(others);
        return Decision.write(true, rest).without(Set.of(new Sign(Sign.Kind.READS, owner)));
    }

    private Owner owner() {
        return Owner.of(request.key());
    }

    private int seconds() {
        return Seconds.lastingAtLeast(request.ttl());
    }

    /** What is left of a hold the server does not tell: stored for as long as before, it does not end sooner. */
    private int seconds(Own own) {
        return request.leaseChange() == LeaseChange.SET ? seconds() : Math.max(seconds(), own.seconds());
    }

    private Optional<Own> own() {
        Owner owner = owner();
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

    private Attempt lost(Optional<Own> own) {
        if (own.isPresent()) {
            return new Attempt.Lost(LossReason.RELEASED_ELSEWHERE);
        }
        return new Attempt.Lost(live.isFree() ? LossReason.EXPIRED : LossReason.TAKEN_OVER);
    }

    private boolean admits() {
        if (live.writer().isPresent() || live.readers().size() >= State.MOST_READERS) {
            return false;
        }
        return request.mode() == LockMode.EXCLUSIVE ? live.readers().isEmpty() : !anotherPromotes();
    }

    private boolean anotherPromotes() {
        return live.promoter().filter(one -> !one.equals(owner())).isPresent();
    }

    private List<State.Reader> otherReaders() {
        return without(live.readers(), owner());
    }

    private static List<State.Reader> without(List<State.Reader> readers, Owner owner) {
        return readers.stream().filter(one -> !one.owner().equals(owner)).toList();
    }

    private Decision<Attempt> hold(LockMode mode, int seconds) {
        Attempt granted = new Attempt.Granted(mode, OptionalLong.empty(), Lease.timed(sinceNanos, request.ttl()));
        if (mode == LockMode.EXCLUSIVE) {
            // The sign of a reader that promotes ends by itself: deleted late, it would be missing after a demotion.
            return Decision.write(granted, State.heldBy(new State.Writer(owner(), seconds, holdings.lasting(seconds))));
        }
        List<State.Reader> readers = new ArrayList<>(otherReaders());
        readers.add(new State.Reader(owner(), seconds));
        Optional<Owner> promoter = live.promoter().filter(one -> !one.equals(owner()));
        return Decision.write(granted, new State(Optional.empty(), readers, promoter))
                .with(new Sign(Sign.Kind.READS, owner()), seconds);
    }

    /** Leaves a mark that keeps new readers out as long as the promoter asks again, and takes it away with the last try. */
    private Decision<Attempt> promotionRefused() {
        boolean marked = live.promoter().filter(one -> one.equals(owner())).isPresent();
        if (request.patience() == Patience.ONCE) {
            return marked
                    ? Decision.write(Attempt.Conflicted.NO_HINT, live.withPromoter(Optional.empty()))
                    : Decision.leave(Attempt.Conflicted.NO_HINT);
        }
        if (anotherPromotes()) {
            return Decision.leave(new Attempt.Refused());
        }
        Decision<Attempt> refused = marked
                ? Decision.leave(Attempt.Conflicted.NO_HINT)
                : Decision.write(Attempt.Conflicted.NO_HINT, live.withPromoter(Optional.of(owner())));
        return refused.with(new Sign(Sign.Kind.PROMOTES, owner()), MARK_SECONDS);
    }
}
