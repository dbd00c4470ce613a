package dev.latchkey.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import java.util.Optional;

/**
 * Where a store keeps its documents.
 *
 * @param database of one client; a collection alone does not tell what kind of server it is on
 * @param name of the collection
 * @param end closes that client, if the store has made it
 */
record CollectionLocation(MongoDatabase database, String name, Runnable end) {

    /** Completes the location with what the builder says. */
    interface Source {
        CollectionLocation place(Optional<String> database, Optional<String> collection);
    }

    MongoCollection<?> collection() {
        return database.getCollection(name);
    }

    static Source of(MongoDatabase database) {
        return (name, collection) -> {
            if (name.isPresent()) {
                throw new IllegalArgumentException(
                        "the database is the one that was given, not \"" + name.get() + "\"");
            }
            return new CollectionLocation(database, required(collection), () -> {});
        };
    }

    static Source of(MongoClient client) {
        return (database, collection) -> {
            if (database.isEmpty()) {
                throw new IllegalArgumentException("no database was named: call database(…)");
            }
            return new CollectionLocation(client.getDatabase(database.get()), required(collection), () -> {});
        };
    }

    static Source of(Uri uri) {
        ConnectionString parsed = Clients.parse(uri.driver());
        return (database, collection) -> {
            String in = Optional.ofNullable(parsed.getDatabase())
                    .or(() -> database)
                    .orElseThrow(() -> new IllegalArgumentException(
                            "the MongoDB URI names no database, as in mongodb://host/database?collection=name"));
            String name = required(uri.collection().or(() -> collection));
            MongoClient client = Clients.open(parsed);
            return new CollectionLocation(client.getDatabase(in), name, client::close);
        };
    }

    private static String required(Optional<String> collection) {
        return collection.orElseThrow(() -> new IllegalArgumentException(
                "no collection was named: call collection(…), or add ?collection=name to the MongoDB URI"));
    }
}
