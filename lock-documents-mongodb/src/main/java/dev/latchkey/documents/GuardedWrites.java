package dev.latchkey.documents;

import static dev.latchkey.documents.Expressions.field;
import static dev.latchkey.documents.Expressions.literal;
import static dev.latchkey.documents.Expressions.merged;
import static dev.latchkey.documents.Expressions.object;
import static dev.latchkey.documents.Expressions.stages;
import static dev.latchkey.documents.Expressions.to;
import static dev.latchkey.documents.Expressions.where;

import com.mongodb.client.model.Filters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonValue;
import org.bson.conversions.Bson;

/**
 * Single writes that require an expected version and the consent of a guard: one command each, whose filter is the check. The
 * result of a write that was refused is empty; {@link #loadRefused} and {@link #required} find out why.
 */
final class GuardedWrites {

    /** A field that is read and never stored. */
    private static final String STANDING = "_standing";

    /** How often a write is repeated that would be accepted by now. */
    static final int TRIES = 5;

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

    /** Loads a document after its write was refused, and throws if a lock was the reason. */
    Optional<BsonDocument> loadRefused(BsonValue id, Optional<Version> expected) {
        BsonDocument stage = new BsonDocument("$addFields", object(to(STANDING, guard.standing())));
        Optional<BsonDocument> current = commands.find(Filters.eq(Mapping.ID, id), stage);
        current.ifPresent(document -> {
            Guard.Standing standing =
                    Guard.Standing.valueOf(document.getString(STANDING).getValue());
            document.remove(STANDING);
            boolean lockIsLost = guard instanceof Guard.Owner owner && !LockFields.names(document, owner.token());
            boolean fits = mapping.version(document).equals(expected);
            if (lockIsLost || (standing != Guard.Standing.MAY_WRITE && fits)) {
                throw guard.refusal(name(id), document, standing);
            }
        });
        return current;
    }

    String name(BsonValue id) {
        return mapping.name(id);
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
        BsonDocument fields = update.getDocument("$set", new BsonDocument()).clone();
        fields.put(versionField, next.value());
        update.put("$set", fields);
        return commands.change(filter(id, expected), update);
    }

    /** Replaces the document, except for the fields of this module. */
    Optional<BsonDocument> replace(BsonValue id, Optional<Version> expected, Version next, BsonDocument replacement) {
        BsonDocument document = replacement.clone();
        document.put(versionField, next.value());
        // The stored id stays: an equal one may be a number of another type.
        BsonDocument ours = object(
                to(Mapping.ID, field(Mapping.ID)),
                to(LockFields.LOCK, field(LockFields.LOCK)),
                to(Markers.FIELD, field(Markers.FIELD)));
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
        // Null also matches a missing field, and zero is the version of objects that cannot contain null.
        all.add(
                expected.isPresent()
                        ? Filters.eq(versionField, expected.get().value())
                        : Filters.in(versionField, BsonNull.VALUE, new BsonInt32(0)));
        all.add(where(guard.mayWrite()));
        return Filters.and(all);
    }

    /**
     * Writes, and throws the reason if the write was refused. It is repeated if it would be accepted by now, because a lock was
     * released or the document was created again.
     */
    BsonDocument required(BsonValue id, Optional<Version> expected, Supplier<Optional<BsonDocument>> write) {
        for (int tries = 1; ; tries++) {
            Optional<BsonDocument> written = write.get();
            if (written.isPresent()) {
                return written.get();
            }
            Optional<BsonDocument> current = loadRefused(id, expected);
            boolean fitsNow =
                    current.isPresent() && mapping.version(current.get()).equals(expected);
            if (!fitsNow || tries == TRIES) {
                throw conflict(id, expected, current);
            }
        }
    }

    OptimisticLockException conflict(BsonValue id, Optional<Version> expected, Optional<BsonDocument> current) {
        return new OptimisticLockException(
                mapping.name(id), expected, current.flatMap(mapping::version), current.isPresent());
    }
}
