package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
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

/**
 * Who may hold what, decided from a row that was read. What is decided is written only if the row is still the same.
 *
 * <ol>
 *   <li>An exclusive hold needs that nobody else holds; a shared one, that nobody holds exclusively and no other reader
 *       waits to promote.
 *   <li>Of two readers that wait to promote, the second is refused: each would wait for the other.
 *   <li>An ended lease counts for nothing, but stays until somebody else is granted the resource, so that a late release
 *       can tell whether the resource changed hands.
 * </ol>
 *
 * @param sinceNanos when the row was asked for, by this JVM's monotonic clock
 * @param holder who asks, for people
 */
record Rules(Row row, Request request, long sinceNanos, String holder) {

    /** A promoter asks again at least every second. */
    private static final long MARK_MICROS = Duration.ofSeconds(3).toNanos() / 1_000;

    /** One key's own live hold. */
    private record Own(LockMode mode, OptionalLong fencingToken, long expiresAt) {}

    Decision<Response> save() {
        Optional<Own> own = own(row, request.key());
        if (!isAsClaimed(own) && !isRepeatedDemotion(own)) {
            return Decision.leave(lost(own));
        }
        if (own.isEmpty()) {
            return admits() ? grant() : conflict();
        }
        boolean promotes = own.get().mode() == LockMode.SHARED && request.mode() == LockMode.EXCLUSIVE;
        if (promotes) {
            return othersRead() ? promotionRefused() : promote(own.get());
        }
        return request.isDemotion() && own.get().mode() == LockMode.EXCLUSIVE
                ? demote(own.get())
                : renew(own.get(), withoutMark(row, request.key()));
    }

    /** Of whatever mode the hold is: the request may be older than a promotion or a demotion. */
    Decision<Response> refresh() {
        Optional<Own> own = own(row, request.key());
        return own.isEmpty() || !isAsClaimed(own) ? Decision.leave(lost(own)) : renew(own.get(), row);
    }

    static Optional<Response.Granted> find(Row row, Key key, long sinceNanos) {
        return own(row, key)
                .map(own -> new Response.Granted(
                        own.mode(), own.fencingToken(), Lease.timed(sinceNanos, micros(own.expiresAt() - row.now()))));
    }

    static Decision<Boolean> delete(Row row, Key key) {
        if (row.writer().filter(one -> one.token().equals(key.token())).isPresent()) {
            return Decision.free(
                    true, row.withWriter(Optional.empty(), row.claimed(key).orElse(row.fencingToken())));
        }
        List<SharedHold> others = without(row.readers(), key);
        boolean wasReader = others.size() < row.readers().size();
        return wasReader ? Decision.free(true, withoutMark(row, key).withReaders(others)) : Decision.leave(false);
    }

    /** As {@link #delete}; true also if that was done before. */
    static Decision<Boolean> deleteSticky(Row row, Key key, long used) {
        boolean isReleased = row.writer().isEmpty() && row.fencingToken() == used;
        return isReleased ? Decision.leave(true) : delete(row, key);
    }

    static Decision<Boolean> forceRelease(Row row, long fencingToken) {
        return row.liveWriter().isPresent() && row.usedToken() == fencingToken
                ? Decision.free(true, row.withWriter(Optional.empty(), row.fencingToken()))
                : Decision.leave(false);
    }

    private static Optional<Own> own(Row row, Key key) {
        Optional<Own> writer = row.liveWriter()
                .filter(one -> one.token().equals(key.token()))
                .map(one -> new Own(
                        LockMode.EXCLUSIVE,
                        OptionalLong.of(row.claimed(key).orElse(row.usedToken())),
                        one.expiresAt()));
        return writer.or(() -> row.liveReaders().stream()
                .filter(one -> one.token().equals(key.token()))
                .map(one -> new Own(LockMode.SHARED, OptionalLong.empty(), one.expiresAt()))
                .findFirst());
    }

    /** An exclusive hold that was demoted, or released and taken anew, with the same key elsewhere is not the one claimed. */
    private boolean isAsClaimed(Optional<Own> own) {
        Optional<Key.Held> claimed = request.key().held();
        return claimed.isEmpty()
                || own.filter(hold -> claimed.get().mode() == LockMode.SHARED
                                || (hold.mode() == LockMode.EXCLUSIVE
                                        && hold.fencingToken()
                                                .equals(claimed.get().fencingToken())))
                        .isPresent();
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
        boolean othersHold = row.liveWriter().isPresent() || !row.liveReaders().isEmpty();
        return new Response.Lost(othersHold ? LossReason.TAKEN_OVER : LossReason.EXPIRED);
    }

    private boolean admits() {
        if (row.liveWriter().isPresent()) {
            return false;
        }
        return request.mode() == LockMode.EXCLUSIVE ? row.liveReaders().isEmpty() : !anotherPromotes();
    }

    private boolean othersRead() {
        return !without(row.liveReaders(), request.key()).isEmpty();
    }

    private boolean anotherPromotes() {
        return row.promoter()
                .filter(mark -> !mark.token().equals(request.key().token()))
                .isPresent();
    }

    private Decision<Response> grant() {
        if (request.mode() == LockMode.SHARED) {
            List<SharedHold> readers = new ArrayList<>(row.liveReaders());
            readers.add(reader(newEnd()));
            Row shared = row.withWriter(Optional.empty(), row.fencingToken()).withReaders(readers);
            return Decision.write(granted(LockMode.SHARED, OptionalLong.empty(), newEnd()), shared);
        }
        return write(newEnd());
    }

    private Decision<Response> promote(Own own) {
        return write(endOf(own));
    }

    private Decision<Response> write(long end) {
        long fencingToken = Math.max(row.fencingToken() + 1, row.now());
        Row.Writer writer = new Row.Writer(request.key().token(), holder, row.now(), end, fencingToken);
        Row written = row.withWriter(Optional.of(writer), fencingToken + request.reservedTokens())
                .withReaders(List.of())
                .withPromoter(Optional.empty());
        return Decision.write(granted(LockMode.EXCLUSIVE, OptionalLong.of(fencingToken), end), written);
    }

    private Decision<Response> renew(Own own, Row before) {
        if (own.mode() == LockMode.SHARED) {
            return renewed(
                    own,
                    before.withReaders(row.readers().stream()
                            .map(one -> one.token().equals(request.key().token())
                                    ? new SharedHold(one.token(), endOf(own), renewedText(one.holder()))
                                    : one)
                            .toList()));
        }
        long used = own.fencingToken().orElse(row.fencingToken());
        // What was reserved before stays so: a renewal may come late.
        long last = Math.max(row.fencingToken(), used + request.reservedTokens());
        Optional<Row.Writer> writer = row.writer()
                .map(one -> new Row.Writer(one.token(), renewedText(one.holder()), one.acquiredAt(), endOf(own), used));
        return renewed(own, before.withWriter(writer, last));
    }

    /** A hold that was sticky once stays so: others may have it still under its key. */
    private String renewedText(String before) {
        return request.isSticky() ? HolderText.kept(before) : before;
    }

    /** Who waits goes by the end of the lease that it was told, and a reader by the mark that kept it out. */
    private Decision<Response> renewed(Own own, Row after) {
        Response granted = granted(own.mode(), own.fencingToken(), endOf(own));
        boolean letsOthersIn = endOf(own) < own.expiresAt()
                || (row.promoter().isPresent() && after.promoter().isEmpty());
        return letsOthersIn ? Decision.free(granted, after) : Decision.write(granted, after);
    }

    private Decision<Response> demote(Own own) {
        Row demoted = row.withWriter(Optional.empty(), row.fencingToken()).withReaders(List.of(reader(endOf(own))));
        return Decision.free(granted(LockMode.SHARED, OptionalLong.empty(), endOf(own)), demoted);
    }

    private Decision<Response> conflict() {
        Recall recall = new Recall(row, request);
        Response conflict = new Response.Conflicted(micros(untilAdmitted()), recall.mayEnd());
        boolean isNew = !row.waited() || recall.isNew();
        boolean marks = request.retryIntent() == RetryIntent.AGAIN && isNew && !row.isAbsent();
        return marks ? Decision.write(conflict, recall.noted().waitedFor()) : Decision.leave(conflict);
    }

    /** Nobody tells a reader when the mark of a promoter that is gone has lapsed. */
    private long untilAdmitted() {
        boolean isKeptOutByAMark =
                request.mode() == LockMode.SHARED && row.liveWriter().isEmpty();
        return isKeptOutByAMark
                ? row.promoter().map(mark -> mark.until() - row.now()).orElse(row.remaining())
                : row.remaining();
    }

    /** Leaves a mark that keeps new readers out as long as the promoter asks again, and takes it away with the last try. */
    private Decision<Response> promotionRefused() {
        Recall recall = new Recall(row, request);
        Response conflict = new Response.Conflicted(micros(row.remaining()), recall.mayEnd());
        if (request.retryIntent() == RetryIntent.ONCE) {
            boolean marked = row.promoter().isPresent() && !anotherPromotes();
            return marked ? Decision.free(conflict, row.withPromoter(Optional.empty())) : Decision.leave(conflict);
        }
        if (anotherPromotes()) {
            return Decision.leave(new Response.Refused());
        }
        Row.Promoter mark = new Row.Promoter(request.key().token(), row.now() + MARK_MICROS);
        return Decision.write(conflict, recall.noted().withPromoter(Optional.of(mark)));
    }

    private static Row withoutMark(Row row, Key key) {
        boolean isOwn =
                row.promoter().filter(mark -> mark.token().equals(key.token())).isPresent();
        return isOwn ? row.withPromoter(Optional.empty()) : row;
    }

    private static List<SharedHold> without(List<SharedHold> readers, Key key) {
        return readers.stream().filter(one -> !one.token().equals(key.token())).toList();
    }

    private Response granted(LockMode mode, OptionalLong fencingToken, long end) {
        return new Response.Granted(mode, fencingToken, Lease.timed(sinceNanos, micros(end - row.now())));
    }

    private SharedHold reader(long end) {
        return new SharedHold(request.key().token(), end, holder);
    }

    private long newEnd() {
        return row.now() + micros(request.ttl());
    }

    /** When the lease of a hold that is there ends: not sooner than it would, unless that is asked for. */
    private long endOf(Own own) {
        return request.leaseChange() == LeaseChange.SET ? newEnd() : Math.max(newEnd(), own.expiresAt());
    }

    static Duration micros(long micros) {
        return Duration.ofNanos(micros * 1_000);
    }

    static long micros(Duration duration) {
        return duration.toNanos() / 1_000;
    }
}
