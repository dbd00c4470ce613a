package dev.latchkey.jdbc;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The recall of the sticky holds that keep a request from being granted: their holders are told in the statement that reads. */
record Recall(Row row, Request request) {

    /** How long a recalled holder may take to release what it only keeps; after that, it is taken to use it. */
    private static final long ANSWER_MICROS = Duration.ofMillis(50).toNanos() / 1_000;

    /** Whether sticky holds alone keep the request from being granted, and their holders have not had the time to answer. */
    boolean mayEnd() {
        List<String> others = others().toList();
        return !others.isEmpty() && others.stream().allMatch(this::mayEnd);
    }

    private boolean mayEnd(String holder) {
        return HolderText.isKept(holder) && hasTime(HolderText.recalledAt(holder), row.now());
    }

    /** Whether a holder that was recalled then may still be about to answer; zero: it was not yet. */
    static boolean hasTime(long recalledAt, long now) {
        return recalledAt == 0 || (now >= recalledAt && now - recalledAt < ANSWER_MICROS);
    }

    /** Whether there is a sticky hold among those that keep the request from being granted. */
    boolean isOfSticky() {
        return others().anyMatch(HolderText::isKept);
    }

    /** Whether the row does not show yet that one of them was recalled. */
    boolean isNew() {
        return others().anyMatch(HolderText::isToBeRecalled);
    }

    /** The row with when they were first recalled. */
    Row noted() {
        List<SharedHold> readers = row.readers().stream()
                .map(one -> isOther(one.token()) && request.mode() == LockMode.EXCLUSIVE
                        ? new SharedHold(one.token(), one.expiresAt(), HolderText.recalled(one.holder(), row.now()))
                        : one)
                .toList();
        return row.withWriter(
                        row.writer()
                                .map(one -> isOther(one.token())
                                        ? one.shownAs(HolderText.recalled(one.holder(), row.now()))
                                        : one),
                        row.fencingToken())
                .withReaders(readers);
    }

    private Stream<String> others() {
        Stream<String> writer = row.liveWriter().filter(one -> isOther(one.token())).map(Row.Writer::holder).stream();
        Stream<String> readers = request.mode() == LockMode.EXCLUSIVE
                ? row.liveReaders().stream().filter(one -> isOther(one.token())).map(SharedHold::holder)
                : Stream.empty();
        return Stream.concat(writer, readers);
    }

    private boolean isOther(String token) {
        return !token.equals(request.key().token());
    }
}
