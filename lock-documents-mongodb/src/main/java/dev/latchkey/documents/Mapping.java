package dev.latchkey.documents;

import com.mongodb.MongoNamespace;
import java.util.Optional;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonValue;

/**
 * Maps the application's objects to documents. The fields of this module are removed in both directions: an old copy of a lock
 * must not be written back.
 */
final class Mapping<T> {

    static final String ID = "_id";

    private final Conversion<T> conversion;
    private final String versionField;
    private final Version.Type versionType;
    private final MongoNamespace namespace;

    Mapping(Conversion<T> conversion, String versionField, Version.Type versionType, MongoNamespace namespace) {
        if (versionField.isEmpty() || versionField.startsWith("$") || versionField.contains(".")) {
            throw new IllegalArgumentException("\"" + versionField
                    + "\" cannot be a version field: it must be the name of a field of the document itself");
        }
        this.conversion = conversion;
        this.versionField = versionField;
        this.versionType = versionType;
        this.namespace = namespace;
    }

    BsonDocument encode(T object) {
        BsonDocument document = own(conversion.encode(object));
        if (document.get(ID, BsonNull.VALUE).isNull()) {
            document.remove(ID);
        }
        return document;
    }

    T decode(BsonDocument document) {
        BsonDocument own = own(document);
        if (version(document).isEmpty()) {
            own.remove(versionField);
            conversion.versionOfNone(versionField, versionType).ifPresent(none -> own.put(versionField, none));
        }
        return conversion.decode(own);
    }

    /** Returns the document as the application sees it, without fields that its objects do not have. */
    BsonDocument seen(BsonDocument document) {
        return encode(decode(document));
    }

    private static BsonDocument own(BsonDocument document) {
        BsonDocument copy = document.clone();
        copy.remove(LockFields.LOCK);
        copy.remove(Markers.FIELD);
        return copy;
    }

    String versionField() {
        return versionField;
    }

    Version.Type versionType() {
        return versionType;
    }

    Optional<Version> version(BsonDocument document) {
        BsonValue value = document.get(versionField);
        if (value == null || Version.isNone(value)) {
            return Optional.empty();
        }
        String where = document.containsKey(ID) ? name(idOf(document)) : "a new document of " + namespace;
        return Optional.of(Version.read(value, versionType, where));
    }

    Version next(Optional<Version> version) {
        return version.map(Version::next).orElseGet(versionType::first);
    }

    static BsonValue idOf(BsonDocument document) {
        BsonValue id = document.get(ID);
        if (id == null) {
            throw new IllegalArgumentException("a document without an _id cannot be found again: insert it first");
        }
        return id;
    }

    /** Like {@link #version(BsonDocument)}, for a document that has a version. */
    Optional<Version> known(Version version) {
        checkType(version);
        return Optional.of(version).filter(one -> !Version.isNone(one.value()));
    }

    private void checkType(Version expected) {
        if (expected.type() != versionType) {
            throw new IllegalArgumentException("version " + expected + " was expected, but versions of " + namespace
                    + " are of the type " + versionType);
        }
    }

    String name(BsonValue id) {
        return name(namespace, id);
    }

    /** Returns a description of a document, for people. */
    static String name(MongoNamespace namespace, BsonValue id) {
        if (id.isString()) {
            return namespace + "/" + id.asString().getValue();
        }
        if (id.isObjectId()) {
            return namespace + "/" + id.asObjectId().getValue().toHexString();
        }
        String json = new BsonDocument("", id).toJson();
        return namespace + "/" + json.substring("{\"\": ".length(), json.length() - 1);
    }
}
