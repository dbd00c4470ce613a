package dev.latchkey.documents;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterType;
import dev.latchkey.servers.MongoDbServer;
import java.util.Optional;
import org.bson.Document;

/**
 * A MongoDB that has transactions: the one the environment names, if it is a replica set or a sharded cluster, or one that is
 * started, of the {@code mongod} of this machine or in a container. The embedded server has none. Where there is none the tests do not run, and say so.
 */
final class ReplicaSet {

    private ReplicaSet() {}

    /** Called by JUnit before anything of the test class is. */
    static boolean isThere() {
        boolean given = named().isPresent();
        if (given || MongoDbServer.isReal()) {
            return true;
        }
        System.err.println(
                "NOT RUN: the transactions of MongoDB. To run them, put a mongod on the PATH, start Docker, or set "
                        + MongoDbServer.ENVIRONMENT + " to a replica set, such as mongodb://host:27017/?replicaSet=rs");
        return false;
    }

    static String uri() {
        return named().orElseGet(() -> MongoDbServer.startReplicaSet().uri());
    }

    private static Optional<String> named() {
        return Optional.ofNullable(System.getenv(MongoDbServer.ENVIRONMENT)).filter(ReplicaSet::hasTransactions);
    }

    private static boolean hasTransactions(String uri) {
        try (MongoClient client = MongoClients.create(uri)) {
            client.getDatabase("admin").runCommand(new Document("ping", 1));
            return client.getClusterDescription().getType() != ClusterType.STANDALONE;
        } catch (MongoException e) {
            throw new AssertionError(MongoDbServer.ENVIRONMENT + " is set, but nothing answers there", e);
        }
    }
}
