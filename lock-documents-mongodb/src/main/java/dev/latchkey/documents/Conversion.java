package dev.latchkey.documents;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonDocumentReader;
import org.bson.BsonDocumentWriter;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.codecs.Codec;
import org.bson.codecs.DecoderContext;
import org.bson.codecs.EncoderContext;
import org.bson.codecs.pojo.annotations.BsonProperty;

/** Converts the application's objects to documents and back. */
interface Conversion<T> {

    /** Leaves out a missing id: a codec would create one of its own, which may differ from the requested one. */
    BsonDocument encode(T object);

    T decode(BsonDocument document);

    /** Returns the version to set on an object whose document has none; empty to set none. */
    Optional<BsonValue> versionOfNone(String versionField, Version.Type type);

    static <T> Conversion<T> of(Codec<T> codec) {
        return new Conversion<>() {

            @Override
            public BsonDocument encode(T object) {
                BsonDocument document = new BsonDocument();
                codec.encode(
                        new BsonDocumentWriter(document),
                        object,
                        EncoderContext.builder().build());
                return document;
            }

            @Override
            public T decode(BsonDocument document) {
                return codec.decode(
                        new BsonDocumentReader(document),
                        DecoderContext.builder().build());
            }

            /** A record cannot be created without the value of a primitive component. */
            @Override
            public Optional<BsonValue> versionOfNone(String versionField, Version.Type type) {
                RecordComponent[] components = codec.getEncoderClass().getRecordComponents();
                boolean isNeeded = components != null
                        && Arrays.stream(components)
                                .filter(one -> one.getType().isPrimitive())
                                .anyMatch(one -> name(one).equals(versionField));
                return isNeeded ? zero(type) : Optional.empty();
            }
        };
    }

    static <T> Conversion<T> of(Codec<Document> codec, Function<Document, T> decode, Function<T, Document> encode) {
        Conversion<Document> documents = of(codec);
        return new Conversion<>() {

            @Override
            public BsonDocument encode(T object) {
                return documents.encode(encode.apply(object));
            }

            @Override
            public T decode(BsonDocument document) {
                return decode.apply(documents.decode(document));
            }

            @Override
            public Optional<BsonValue> versionOfNone(String versionField, Version.Type type) {
                return Optional.empty();
            }
        };
    }

    private static String name(RecordComponent component) {
        BsonProperty property = component.getAnnotation(BsonProperty.class);
        return property == null || property.value().isEmpty() ? component.getName() : property.value();
    }

    private static Optional<BsonValue> zero(Version.Type type) {
        return switch (type) {
            case INT -> Optional.of(new BsonInt32(0));
            case LONG -> Optional.of(new BsonInt64(0));
            case DECIMAL128, DATE -> Optional.empty();
        };
    }
}
