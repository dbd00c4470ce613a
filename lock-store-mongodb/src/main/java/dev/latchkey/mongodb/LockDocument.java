package dev.latchkey.mongodb;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Holder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * The document of one lock, as the server returned it. Times are milliseconds since 1970 by the server's clock.
 *
 * @param document of ours
 */
record LockDocument(BsonDocument document) {

    /** The hold of one key. */
    record Own(LockMode mode, OptionalLong fencingToken, long request, long expiresAt, String holder) {}

    /** Returns what a key holds, or held last if the lock was not granted to another key since. */
    Optional<Own> own(Key key) {
        boolean writes =
                text(document, Fields.TOKEN).filter(key.token()::equals).isPresent();
        return writes
                ? writer()
                : readers().stream()
                        .filter(reader -> text(reader, Fields.TOKEN)
                                .filter(key.token()::equals)
                                .isPresent())
                        .map(LockDocument::reader)
                        .findFirst();
    }

    /** Returns the leases that have not ended, of a document that was read with the clock. */
    List<Own> live() {
        return writer()
                .map(List::of)
                .orElseGet(() -> readers().stream().map(LockDocument::reader).toList())
                .stream()
                .filter(this::isLive)
                .toList();
    }

    /** Returns those whose leases have not ended, as people are shown them. */
    List<Holder> holders() {
        return live().stream()
                .map(own -> new Holder(
                        own.mode(), own.fencingToken(), Optional.of(remaining(own)), Optional.of(own.holder())))
                .toList();
    }

    /** Returns the name of the resource, shortened if it is long. */
    String name() {
        return document.getString(Fields.RESOURCE).getValue();
    }

    boolean isLive(Own own) {
        return own.expiresAt() >= now();
    }

    /** Returns the rest of a lease. */
    Duration remaining(Own own) {
        return Duration.ofMillis(own.expiresAt() - now());
    }

    long now() {
        return document.getDateTime(Fields.NOW).getValue();
    }

    /** Returns the end of the last lease; empty if there is none. */
    OptionalLong expiresAt() {
        return document.isNull(Fields.EXPIRES_AT)
                ? OptionalLong.empty()
                : OptionalLong.of(document.getDateTime(Fields.EXPIRES_AT).getValue());
    }

    /** Returns the length of the exclusive lease from its last grant or renewal. */
    Duration grantedFor() {
        return Duration.ofMillis(document.getDateTime(Fields.EXPIRES_AT).getValue()
                - document.getDateTime(Fields.RENEWED_AT).getValue());
    }

    boolean isMarkedBy(long request) {
        return promoter()
                .filter(mark -> mark.getInt64(Fields.REQUEST).getValue() == request)
                .isPresent();
    }

    boolean isPromotedByAnother(Key key) {
        return promoter()
                .filter(mark -> mark.getDateTime(Fields.UNTIL).getValue() >= now())
                .filter(mark -> !mark.getString(Fields.TOKEN).getValue().equals(key.token()))
                .isPresent();
    }

    /** Returns why a key does not have the hold that it claims. */
    LossReason reasonOfLoss(Key key) {
        Optional<Own> own = own(key).filter(this::isLive);
        if (own.isPresent()) {
            return LossReason.RELEASED_ELSEWHERE;
        }
        return live().isEmpty() ? LossReason.EXPIRED : LossReason.TAKEN_OVER;
    }

    private Optional<Own> writer() {
        return text(document, Fields.TOKEN)
                .map(token -> new Own(
                        LockMode.EXCLUSIVE,
                        OptionalLong.of(document.getInt64(Fields.FENCING_TOKEN).getValue()),
                        document.getInt64(Fields.REQUEST).getValue(),
                        document.getDateTime(Fields.EXPIRES_AT).getValue(),
                        document.getString(Fields.HOLDER).getValue()));
    }

    private List<BsonDocument> readers() {
        return document.getArray(Fields.READERS).stream()
                .map(BsonValue::asDocument)
                .toList();
    }

    private static Own reader(BsonDocument reader) {
        return new Own(
                LockMode.SHARED,
                OptionalLong.empty(),
                reader.getInt64(Fields.REQUEST).getValue(),
                reader.getDateTime(Fields.EXPIRES_AT).getValue(),
                reader.getString(Fields.HOLDER).getValue());
    }

    private Optional<BsonDocument> promoter() {
        return Optional.ofNullable(document.get(Fields.PROMOTER))
                .filter(BsonValue::isDocument)
                .map(BsonValue::asDocument);
    }

    private static Optional<String> text(BsonDocument in, String field) {
        return Optional.ofNullable(in.get(field))
                .filter(BsonValue::isString)
                .map(value -> value.asString().getValue());
    }
}
