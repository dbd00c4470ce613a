package dev.latchkey.documents;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.latchkey.servers.MongoDbServer;
import java.util.UUID;
import org.bson.Document;

/** The server all tests of this JVM share, and collections of each test's own. */
final class TestDatabase {

    static final String URI = uri();
    static final MongoClient CLIENT = MongoClients.create(URI);
    static final MongoDatabase DATABASE = CLIENT.getDatabase("latchkey_documents_test");

    private TestDatabase() {}

    private static String uri() {
        String given = System.getenv(MongoDbServer.ENVIRONMENT);
        return given != null && !given.isBlank() ? given : MongoDbServer.start().uri();
    }

    static MongoCollection<Document> newCollection() {
        return DATABASE.getCollection("c" + UUID.randomUUID().toString().replace("-", ""));
    }
}
