package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import java.util.List;
import java.util.Random;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.junit.jupiter.api.Test;

/** Documents that people and other programs may have written: what counts as a lock can be read, whatever else it has. */
public final class DocumentFuzzTest {

    private static final Key KEY = Key.of("x");

    /** With the index of a reader in front, its own fields are changed. */
    private static final List<String> FIELDS = List.of(
            Fields.FORMAT,
            Fields.TOKEN,
            Fields.REQUEST,
            Fields.HOLDER,
            Fields.RENEWED_AT,
            Fields.EXPIRES_AT,
            Fields.FENCING_TOKEN,
            Fields.READERS,
            Fields.PROMOTER,
            Fields.KEPT_UNTIL,
            Fields.UNTIL);

    /** Removes the field. */
    private static final int MISSING = 9;

    /**
     * Reads a document that differs from a lock in some fields.
     *
     * @param input pairs of bytes: which field of which part, and what it becomes
     */
    public static void fuzzerTestOneInput(byte[] input) {
        BsonDocument document = changed(input);
        if (!DocumentFormat.isLock(document)) {
            return;
        }
        LockDocument lock = new LockDocument(document);
        lock.own(KEY).ifPresent(own -> {
            assertThat(lock.remaining(own)).isNotNull();
            if (own.mode() == LockMode.EXCLUSIVE) {
                assertThat(lock.grantedFor()).isNotNull();
            }
        });
        assertThat(lock.reasonOfLoss(KEY)).isNotNull();
        assertThat(lock.live()).allMatch(lock::isLive);
        boolean unused = lock.expiresAt().isPresent() || lock.isMarkedBy(7) || lock.isPromotedByAnother(KEY);
    }

    @Test
    void givenRandomChanges_whenRead_thenALockOrNotOurs() {
        Random random = new Random(1);
        int locks = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] input = new byte[random.nextInt(9)];
            random.nextBytes(input);
            fuzzerTestOneInput(input);
            locks += DocumentFormat.isLock(changed(input)) ? 1 : 0;
        }
        assertThat(locks).as("locks among 20,000 documents").isBetween(2_000, 18_000);
    }

    private static BsonDocument changed(byte[] input) {
        BsonDocument reader = hold(KEY.token());
        BsonDocument promoter = new BsonDocument(Fields.TOKEN, new BsonString("another"))
                .append(Fields.REQUEST, new BsonInt64(7))
                .append(Fields.UNTIL, new BsonDateTime(50));
        boolean isRead = input.length > 0 && input[0] < 0;
        BsonDocument document = isRead ? nobodys() : hold(KEY.token());
        document.append(Fields.FORMAT, new BsonInt32(Fields.FORMAT_1))
                .append(Fields.RENEWED_AT, isRead ? BsonNull.VALUE : new BsonDateTime(10))
                .append(Fields.FENCING_TOKEN, new BsonInt64(3))
                .append(Fields.KEPT_UNTIL, new BsonDateTime(90))
                .append(Fields.READERS, isRead ? new BsonArray(List.of(reader)) : new BsonArray())
                .append(Fields.PROMOTER, isRead ? promoter : BsonNull.VALUE)
                .append(Fields.NOW, new BsonDateTime(40));
        List<BsonDocument> parts = List.of(document, reader, promoter);
        for (int i = 0; i + 1 < input.length; i += 2) {
            int place = input[i] & 0x7f;
            change(parts.get(place / FIELDS.size() % parts.size()), FIELDS.get(place % FIELDS.size()), input[i + 1]);
        }
        return document;
    }

    private static void change(BsonDocument part, String field, byte kind) {
        if ((kind & 15) == MISSING) {
            part.remove(field);
        } else {
            part.put(field, value(kind));
        }
    }

    private static BsonValue value(byte kind) {
        return switch (kind & 15) {
            case 0 -> BsonNull.VALUE;
            case 1 -> new BsonString(kind < 0 ? KEY.token() : "another");
            case 2 -> new BsonInt64(kind < 0 ? Long.MAX_VALUE : 7);
            case 3 -> new BsonInt32(kind);
            case 4 -> new BsonDateTime(kind);
            case 5 -> new BsonDateTime(kind < 0 ? Long.MIN_VALUE : Long.MAX_VALUE);
            case 6 -> new BsonArray();
            case 7 -> new BsonArray(List.of(hold("another"), hold(KEY.token())));
            case 8 -> new BsonDocument();
            case 10 -> new BsonArray(List.of(BsonNull.VALUE));
            default -> BsonBoolean.valueOf(kind < 0);
        };
    }

    private static BsonDocument hold(String token) {
        return new BsonDocument(Fields.TOKEN, new BsonString(token))
                .append(Fields.REQUEST, new BsonInt64(7))
                .append(Fields.HOLDER, new BsonString("1@host"))
                .append(Fields.EXPIRES_AT, new BsonDateTime(60));
    }

    private static BsonDocument nobodys() {
        return new BsonDocument(Fields.TOKEN, BsonNull.VALUE)
                .append(Fields.REQUEST, BsonNull.VALUE)
                .append(Fields.HOLDER, BsonNull.VALUE)
                .append(Fields.EXPIRES_AT, new BsonDateTime(60));
    }
}
