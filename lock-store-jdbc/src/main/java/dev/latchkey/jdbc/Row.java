package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * What the database knows about one resource. Times are microseconds since 1970 by the database's clock.
 *
 * @param writer who holds it exclusively, or did last if the lease has ended since
 * @param fencingToken that of the last exclusive hold; the last one that its holder may use, if it is sticky
 * @param readers who share it, also those whose leases have ended and who were not followed by another holder
 * @param promoter which reader waits to become the writer, if its mark has not lapsed
 * @param waited whether a release is to be announced
 * @param version changes with every change of the row, and begins at the clock: one that was deleted and written anew goes by
 *     other numbers; zero: there is none
 * @param now the database's clock when it was read
 */
record Row(
        Optional<Writer> writer,
        long fencingToken,
        List<SharedHold> readers,
        Optional<Promoter> promoter,
        boolean waited,
        long version,
        long now) {

    /** Stands in the table for nobody: an empty text would be null on Oracle. */
    static final String NOBODY = "-";

    /**
     * An exclusive hold.
     *
     * @param usedToken the fencing token in use
     */
    record Writer(String token, String holder, long acquiredAt, long expiresAt, long usedToken) {

        boolean isKept() {
            return HolderText.isKept(holder);
        }

        Writer shownAs(String otherHolder) {
            return new Writer(token, otherHolder, acquiredAt, expiresAt, usedToken);
        }
    }

    /** The mark of a reader that waits to become the writer. */
    record Promoter(String token, long until) {}

    /** Reads the columns of the dialect's {@code read}. The outer join leaves them null where there is no row. */
    static Row read(ResultSet columns) throws SQLException {
        return read(columns, columns.getLong("now_micros"));
    }

    static Row read(ResultSet columns, long now) throws SQLException {
        String token = columns.getString("token");
        if (token == null) {
            return absent(now);
        }
        String holder = columns.getString("holder");
        Writer writer = new Writer(
                token,
                holder,
                columns.getLong("acquired_at"),
                columns.getLong("expires_at"),
                columns.getLong(HolderText.isKept(holder) ? "promoter_until" : "fencing_token"));
        Promoter promoter = new Promoter(columns.getString("promoter"), columns.getLong("promoter_until"));
        return new Row(
                Optional.of(writer).filter(one -> !one.token.equals(NOBODY)),
                columns.getLong("fencing_token"),
                SharedHold.read(columns.getString("readers")),
                Optional.of(promoter).filter(mark -> mark.until > now && !mark.token.equals(NOBODY)),
                columns.getInt("waited") != 0,
                columns.getLong("version"),
                now);
    }

    static Row absent(long now) {
        return new Row(Optional.empty(), 0, List.of(), Optional.empty(), false, 0, now);
    }

    /** The values of the dialect's {@code insert} and {@code change}. */
    Map<String, Object> values(String resource) {
        Writer shown = writer.orElse(new Writer(NOBODY, NOBODY, 0, 0, 0));
        Promoter mark =
                shown.isKept() ? new Promoter(NOBODY, shown.usedToken) : promoter.orElse(new Promoter(NOBODY, 0));
        return Map.ofEntries(
                Map.entry("resource", resource),
                Map.entry("token", shown.token),
                Map.entry("holder", shown.holder),
                Map.entry("acquired_at", shown.acquiredAt),
                Map.entry("expires_at", shown.expiresAt),
                Map.entry("fencing_token", fencingToken),
                Map.entry("readers", SharedHold.write(readers)),
                Map.entry(
                        "readers_until",
                        readers.stream().mapToLong(SharedHold::expiresAt).max().orElse(0)),
                Map.entry("promoter", mark.token),
                Map.entry("promoter_until", mark.until),
                Map.entry("waited", waited ? 1L : 0L),
                Map.entry("version", isAbsent() ? now : version));
    }

    boolean isAbsent() {
        return version == 0;
    }

    Optional<Writer> liveWriter() {
        return writer.filter(one -> one.expiresAt() > now);
    }

    List<SharedHold> liveReaders() {
        return readers.stream().filter(one -> one.expiresAt() > now).toList();
    }

    /** Those whose leases last, as people are shown them. */
    List<Holder> holders() {
        Stream<Holder> writers = liveWriter().stream()
                .map(one -> new Holder(
                        LockMode.EXCLUSIVE,
                        OptionalLong.of(one.usedToken()),
                        Optional.of(Rules.micros(one.expiresAt() - now)),
                        Optional.of(Rules.micros(Math.max(0, now - one.acquiredAt()))),
                        Optional.of(HolderText.owner(one.holder()))));
        Stream<Holder> sharing = liveReaders().stream()
                .map(one -> new Holder(
                        LockMode.SHARED,
                        OptionalLong.empty(),
                        Optional.of(Rules.micros(one.expiresAt() - now)),
                        Optional.of(HolderText.owner(one.holder()))));
        return Stream.concat(writers, sharing).toList();
    }

    /** The name of the resource as a holder has written it; empty if the key of the row is the name. */
    Optional<String> resource() {
        return Stream.concat(
                        liveWriter().stream().map(Writer::holder),
                        liveReaders().stream().map(SharedHold::holder))
                .findFirst()
                .flatMap(HolderText::resource);
    }

    /** The fencing token that a key claims, if it is one of those that the last exclusive holder may use. */
    OptionalLong claimed(Key key) {
        OptionalLong claim = HoldWork.exclusiveClaim(key);
        boolean isReserved = claim.isPresent() && claim.getAsLong() >= usedToken() && claim.getAsLong() <= fencingToken;
        return isReserved ? claim : OptionalLong.empty();
    }

    /** That of the last exclusive hold, as far as the database was told. */
    long usedToken() {
        return writer.map(Writer::usedToken).orElse(fencingToken);
    }

    /** The microseconds until the last lease ends. */
    long remaining() {
        long writerEnd = writer.map(Writer::expiresAt).orElse(0L);
        long readersEnd =
                readers.stream().mapToLong(SharedHold::expiresAt).max().orElse(0);
        return Math.max(0, Math.max(writerEnd, readersEnd) - now);
    }

    Row withWriter(Optional<Writer> other, long itsFencingToken) {
        return new Row(other, itsFencingToken, readers, promoter, waited, version, now);
    }

    Row withReaders(List<SharedHold> others) {
        return new Row(writer, fencingToken, others, promoter, waited, version, now);
    }

    Row withPromoter(Optional<Promoter> other) {
        return new Row(writer, fencingToken, readers, other, waited, version, now);
    }

    Row waitedFor() {
        return new Row(writer, fencingToken, readers, promoter, true, version, now);
    }
}
