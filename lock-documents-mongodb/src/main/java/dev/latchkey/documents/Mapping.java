package dev.latchkey.documents;

import com.mongodb.MongoNamespace;
import java.util.Optional;
import org.bson.BsonDocument;
import org.bson.BsonDocumentReader;
import org.bson.BsonDocumentWriter;
import org.bson.BsonValue;
import org.bson.codecs.Codec;
import org.bson.codecs.DecoderContext;
import org.bson.codecs.EncoderContext;

/**
 * What the application's objects are as documents. Our own fields are taken away on the way up, and whatever there is of
 * them on the way down: an old copy of a lock must not be written back.
 */
final class Mapping<T> {

    static final String ID = "_id";
    private static final EncoderContext WITH_ID =
            EncoderContext.builder().isEncodingCollectibleDocument(true).build();
    private static final DecoderContext PLAIN = DecoderContext.builder().build();

    private final Codec<T> codec;
    private final String versionField;
    private final Version.Type versionType;
    private final MongoNamespace namespace;

    Mapping(Codec<T> codec, String versionField, Version.Type versionType, MongoNamespace namespace) {
        if (versionField.isEmpty() || versionField.startsWith("$") || versionField.contains(".")) {
            throw new IllegalArgumentException("\"" + versionField
                    + "\" cannot be a version field: it must be the name of a field of the document itself");
        }
        this.codec = codec;
        this.versionField = versionField;
        this.versionType = versionType;
        this.namespace = namespace;
    }

    BsonDocument encode(T object) {
        BsonDocument document = new BsonDocument();
        codec.encode(new BsonDocumentWriter(document), object, WITH_ID);
        return own(document);
    }

    T decode(BsonDocument document) {
        return codec.decode(new BsonDocumentReader(own(document)), PLAIN);
    }

    /** The document as the application sees it: fields it has no place for are not there. */
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
        return value == null || value.isNull()
                ? Optional.empty()
                : Optional.of(Version.read(value, versionType, name(idOf(document))));
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

    void checkType(Version expected) {
        if (expected.type() != versionType) {
            throw new IllegalArgumentException("version " + expected + " was expected, but versions of " + namespace
                    + " are of the type " + versionType);
        }
    }

    String name(BsonValue id) {
        return name(namespace, id);
    }

    /** A document for people. */
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
