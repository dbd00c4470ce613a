package dev.latchkey.benchmarks;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoWriteException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.Updates;
import dev.latchkey.LockFactory;
import dev.latchkey.mongodb.MongoDbStore;
import dev.latchkey.servers.MongoDbServer;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * The MongoDB store beside ShedLock and the bare commands, all with one write concern. The embedded server, where there is no
 * other, evaluates pipelines much slower than MongoDB does.
 */
final class MongoDb implements Contest {

    private static final String DATABASE = "benchmark";
    private static final String WITHOUT =
            "waiting (asks every 5 ms), fencing token, sharing; its client's clock decides";

    private static final List<Contender> ALL = List.of(
            Contender.latchkey(uri -> Ours.exclusive(locks(uri))),
            Contender.latchkeyShared(uri -> Ours.shared(locks(uri))),
            Contender.floor(
                    "findOneAndUpdate + deleteOne",
                    WITHOUT,
                    uri -> bare(database(uri).getCollection("bare_update"), MongoDb::update)),
            Contender.floor(
                    "insertOne + deleteOne",
                    "an end to the hold of a holder that is gone, " + WITHOUT,
                    uri -> bare(database(uri).getCollection("bare_insert"), MongoDb::insert)),
            Contender.peer(
                    ShedLock.TITLE,
                    ShedLock.WITHOUT,
                    uri -> ShedLock.cycles(new MongoLockProvider(database(uri).getCollection("shedlock")))));

    /** A replay has one holder, whatever the number of threads. */
    private static final Contender REPLAY = Contender.floor(
            "Latchkey's own two commands",
            "all but the commands: waiting, keys, word of a loss",
            uri -> MongoDbReplay.of(uri, DATABASE, MongoDb::locks));

    private interface Take {
        void by(MongoCollection<Document> collection, String resource, String token);
    }

    @Override
    public String store() {
        return "mongodb";
    }

    @Override
    public List<Contender> contenders() {
        return alone();
    }

    private static List<Contender> alone() {
        return Stream.concat(ALL.stream(), Stream.of(REPLAY)).toList();
    }

    /** Within the usual time neither the driver nor the embedded server is compiled. */
    @Override
    public List<Table> tables() {
        return List.of(
                Table.alone(Placement.ONE_PROCESSOR, alone()).warmedTimes(3),
                Table.threads(Placement.ONE_PROCESSOR, ALL).warmedTimes(3));
    }

    @Override
    public Servers start() {
        MongoDbServer server = MongoDbServer.start();
        return new Servers(server.uri(), software(server), null, server::close);
    }

    private static String software(MongoDbServer server) {
        try (MongoClient client = MongoClients.create(server.uri())) {
            Document info = client.getDatabase("admin").runCommand(new Document("buildInfo", 1));
            // MongoDB itself says which allocator it was built with.
            return info.containsKey("allocator")
                    ? "MongoDB " + info.getString("version")
                    : "mongo-java-server " + Setting.version("mongo-java-server-core")
                            + ", embedded: not MongoDB itself";
        }
    }

    private static LockFactory locks(String uri) {
        return locks(MongoClients.create(uri));
    }

    private static LockFactory locks(MongoClient client) {
        return new LockFactory(MongoDbStore.builder(client)
                .database(DATABASE)
                .collection("latchkey")
                .build());
    }

    private static MongoDatabase database(String uri) {
        return MongoClients.create(uri).getDatabase(DATABASE).withWriteConcern(WriteConcern.MAJORITY.withJournal(true));
    }

    private static Contender.Client bare(MongoCollection<Document> collection, Take take) {
        return resource -> new Cycle() {
            private String token = "";

            @Override
            public void take() throws Exception {
                token = UUID.randomUUID().toString();
                Cycle.poll(() -> isTaken(collection, resource));
            }

            private boolean isTaken(MongoCollection<Document> from, String name) {
                try {
                    take.by(from, name, token);
                    return true;
                } catch (MongoCommandException | MongoWriteException e) {
                    if (ErrorCategory.fromErrorCode(e.getCode()) == ErrorCategory.DUPLICATE_KEY) {
                        return false;
                    }
                    throw e;
                }
            }

            @Override
            public boolean giveUp() {
                Bson owned = Filters.and(Filters.eq(resource), Filters.eq("token", token));
                return collection.deleteOne(owned).getDeletedCount() == 1;
            }
        };
    }

    /** Of two that find nothing they may update, the server lets one insert. */
    private static void update(MongoCollection<Document> collection, String resource, String token) {
        Instant now = Instant.now();
        collection.findOneAndUpdate(
                Filters.and(Filters.eq(resource), Filters.lte("expires_at", now)),
                Updates.combine(Updates.set("token", token), Updates.set("expires_at", now.plus(Ours.TTL))),
                new FindOneAndUpdateOptions().upsert(true));
    }

    private static void insert(MongoCollection<Document> collection, String resource, String token) {
        collection.insertOne(new Document("_id", resource)
                .append("token", token)
                .append("expires_at", Instant.now().plus(Ours.TTL)));
    }

    @Override
    public List<String> libraries() {
        return List.of("mongodb-driver-sync", "shedlock-provider-mongo");
    }
}
