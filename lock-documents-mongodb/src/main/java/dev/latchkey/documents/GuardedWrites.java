package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.field;
import static dev.latchkey.documents.Expressions.literal;
import static dev.latchkey.documents.Expressions.merged;
import static dev.latchkey.documents.Expressions.object;
import static dev.latchkey.documents.Expressions.stages;
import static dev.latchkey.documents.Expressions.to;

import com.mongodb.client.model.Filters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonValue;
import org.bson.conversions.Bson;

/**
 * Single writes that happen only while the version is the expected one and the guard lets them: one command each, whose
 * filter is the check. A write that did not happen is an empty result; {@link #refused} tells why.
 */
final class GuardedWrites {

    private final Mapping<?> mapping;
    private final Commands commands;
    private final String versionField;
    private final Guard guard;

    GuardedWrites(Mapping<?> mapping, Commands commands, Guard guard) {
        this.mapping = mapping;
        this.commands = commands;
        this.versionField = mapping.versionField();
        this.guard = guard;
    }

    boolean areInSession() {
        return commands.isInSession();
    }

    Optional<BsonDocument> load(BsonValue id) {
        return commands.find(Filters.eq(Mapping.ID, id));
    }

    /** Stores a new document, and returns it. */
    BsonDocument insert(BsonDocument document, Version version) {
        BsonDocument stored = document.clone();
        if (!stored.containsKey(Mapping.ID)) {
            stored.put(Mapping.ID, new BsonObjectId());
        }
        stored.put(versionField, version.value());
        commands.insert(stored);
        return stored;
    }

    /** Applies update operators. */
    Optional<BsonDocument> update(BsonValue id, Optional<Version> expected, Version next, BsonDocument operators) {
        BsonDocument update = operators.clone();
        add(update, "$set", versionField, next.value());
        if (guard.releases()) {
            add(update, "$set", LockFields.LOCK + "." + LockFields.WRITER, BsonNull.VALUE);
            add(update, "$set", LockFields.LOCK + "." + LockFields.READERS, Expressions.NONE);
            add(update, "$set", LockFields.LOCK + "." + LockFields.UNTIL, BsonNull.VALUE);
        }
        return commands.change(filter(id, expected), update);
    }

    private static void add(BsonDocument update, String operator, String field, BsonValue value) {
        BsonDocument fields = update.getDocument(operator, new BsonDocument()).clone();
        fields.put(field, value);
        update.put(operator, fields);
    }

    /** Puts another document in its place, but for the fields that are ours. */
    Optional<BsonDocument> replace(BsonValue id, Optional<Version> expected, Version next, BsonDocument replacement) {
        BsonDocument document = replacement.clone();
        document.put(Mapping.ID, id);
        document.put(versionField, next.value());
        BsonDocument ours =
                object(to(LockFields.LOCK, field(LockFields.LOCK)), to(Markers.FIELD, field(Markers.FIELD)));
        return commands.change(filter(id, expected), stages(merged(literal(document), ours, released())));
    }

    private BsonDocument released() {
        if (!guard.releases()) {
            return new BsonDocument();
        }
        BsonDocument free = object(
                to(LockFields.WRITER, BsonNull.VALUE),
                to(LockFields.READERS, Expressions.NONE),
                to(LockFields.UNTIL, BsonNull.VALUE));
        return object(to(LockFields.LOCK, merged(field(LockFields.LOCK), free)));
    }

    boolean delete(BsonValue id, Optional<Version> expected) {
        return commands.delete(filter(id, expected));
    }

    private Bson filter(BsonValue id, Optional<Version> expected) {
        List<Bson> all = new ArrayList<>();
        all.add(Filters.eq(Mapping.ID, id));
        all.add(Filters.eq(versionField, expected.map(Version::value).orElse(BsonNull.VALUE)));
        all.add(guard.filter());
        return Filters.and(all);
    }

    /** Throws if a write did not happen although the version is still the expected one: because of a lock. */
    void refuse(Optional<Version> expected, BsonDocument current) {
        boolean lockIsLost = guard instanceof Guard.Owner owner && !LockFields.names(current, owner.token());
        if (lockIsLost || mapping.version(current).equals(expected)) {
            throw guard.refusal(mapping.name(Mapping.idOf(current)), current);
        }
    }

    /** Why a write did not happen: returned, or thrown if it is because of a lock. */
    OptimisticLockException refused(BsonValue id, Optional<Version> expected) {
        Optional<BsonDocument> current = load(id);
        current.ifPresent(document -> refuse(expected, document));
        return conflict(id, expected, current);
    }

    OptimisticLockException conflict(BsonValue id, Optional<Version> expected, Optional<BsonDocument> current) {
        return new OptimisticLockException(
                mapping.name(id), expected, current.flatMap(mapping::version), current.isPresent());
    }
}
