package dev.latchkey.servers;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterConnectionMode;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.bson.Document;

/**
 * A MongoDB server of a test's own, to be killed, frozen and started again; and the one that all tests share.
 *
 * <p>Runs, in this order, what is there: a container where Docker answers, {@code mongod} of this machine, the server in
 * the artifact {@code de.bwaldvogel:mongo-java-server}, which keeps all in memory. The shared one may also be given by the
 * environment. Prints which it is.
 */
public final class MongoDbServer extends TestServer {

    /** The environment variable with the URI of a server for all tests that need none of their own, without a database. */
    public static final String ENVIRONMENT = "LATCHKEY_TEST_MONGODB";

    private static final int ANSWER_MILLIS =
            (int) TimeLimits.scaled(Duration.ofSeconds(2)).toMillis();

    private MongoDbServer(LocalServer server) {
        super(server);
    }

    /**
     * Returns the DSN of a server that all tests of this JVM share: each uses resources, or a collection, of its own.
     *
     * @param collection in the database {@code latchkey_test}
     * @return on the server that {@value #ENVIRONMENT} names, or on one that is started for the first who asks
     * @throws AssertionError if there is none, with the line that would help
     */
    public static String sharedDsn(String collection) {
        return dsn(Shared.URI, collection);
    }

    /**
     * Starts a server with no data, which is no member of a replica set.
     *
     * @return the server, ready
     */
    public static MongoDbServer start() {
        return new MongoDbServer(LocalServer.start(plan("mongodb", MongoDbLaunchers.chosen(), List.of())));
    }

    /**
     * Starts a replica set of one server, with no data: one that has change streams.
     *
     * @return the server, ready to write
     */
    public static MongoDbServer startReplicaSet() {
        MongoDbServer started = new MongoDbServer(LocalServer.start(
                plan("mongodb-replica-set", MongoDbLaunchers.chosen(), List.of(EmbeddedMongoDb.REPLICA_SET, "rs"))));
        if (!MongoDbLaunchers.isEmbedded()) {
            started.initiate();
        }
        return started;
    }

    /**
     * Starts a server whose clock is wrong. It is always the embedded one: the clock of a real one is that of the machine.
     *
     * @param offset how far it is ahead; less than zero: behind
     * @return the server, ready
     */
    public static MongoDbServer startWithClock(Duration offset) {
        return new MongoDbServer(LocalServer.start(plan(
                "mongodb-wrong-clock",
                EmbeddedMongoDb.launcher(),
                List.of(EmbeddedMongoDb.CLOCK_OFFSET, offset.toString()))));
    }

    /**
     * Starts a server that greets as the {@code mongos} of a sharded cluster does. It is always the embedded one, and shards
     * nothing.
     *
     * @return the server, ready
     */
    public static MongoDbServer startRouter() {
        return new MongoDbServer(
                LocalServer.start(plan("mongodb-router", EmbeddedMongoDb.launcher(), List.of(EmbeddedMongoDb.ROUTER))));
    }

    /**
     * Tells whether a server of a test's own is MongoDB itself.
     *
     * @return false where it is the embedded one, which has no sessions, elections or rights
     */
    public static boolean isReal() {
        return !MongoDbLaunchers.isEmbedded();
    }

    static LocalServer.Plan plan(String name, Launcher launcher, List<String> options) {
        List<String> arguments =
                new ArrayList<>(List.of("--bind_ip", "127.0.0.1", "--port", "{port}", "--dbpath", "{directory}"));
        arguments.addAll(options);
        return new LocalServer.Plan(name, launcher, arguments, MongoDbServer::answers);
    }

    private static boolean answers(ServerAddress address) {
        try (MongoClient client = connect(address)) {
            client.getDatabase("admin").runCommand(new Document("ping", 1));
            return true;
        } catch (MongoException e) {
            return false;
        }
    }

    private void initiate() {
        try (MongoClient client = connect(address())) {
            Document member = new Document("_id", 0).append("host", address().toString());
            Document config = new Document("_id", "rs").append("members", List.of(member));
            client.getDatabase("admin").runCommand(new Document("replSetInitiate", config));
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> client.getDatabase("admin")
                            .runCommand(new Document("hello", 1))
                            .getBoolean("isWritablePrimary", false));
        }
    }

    private static MongoClient connect(ServerAddress address) {
        return MongoClients.create(MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString("mongodb://" + address + "/"))
                .applyToClusterSettings(cluster -> cluster.mode(ClusterConnectionMode.SINGLE)
                        .serverSelectionTimeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS))
                .applyToSocketSettings(socket -> socket.readTimeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS))
                .build());
    }

    /**
     * Returns what a driver connects to.
     *
     * @return a URI without a database
     */
    public String uri() {
        return uri(address());
    }

    /**
     * Returns what a store connects to.
     *
     * @return {@link #dsn(String)} of the collection {@code lock}
     */
    @Override
    public String dsn() {
        return dsn("lock");
    }

    /**
     * Returns what a store connects to.
     *
     * @param collection in the database {@code latchkey_test}
     * @return for {@link dev.latchkey.LockFactory#connect(String)}
     */
    public String dsn(String collection) {
        return dsn(uri(), collection);
    }

    /**
     * Returns what a store connects to behind a proxy.
     *
     * @param address of the proxy
     * @param collection in the database {@code latchkey_test}
     * @return for {@link dev.latchkey.LockFactory#connect(String)}
     */
    public static String dsn(ServerAddress address, String collection) {
        return dsn(uri(address), collection);
    }

    private static String uri(ServerAddress address) {
        return "mongodb://" + address + "/?directConnection=true";
    }

    private static String dsn(String uri, String collection) {
        int query = uri.indexOf('?');
        String hosts = query < 0 ? uri : uri.substring(0, query);
        String options = query < 0 ? "" : "&" + uri.substring(query + 1);
        String slash = hosts.endsWith("/") ? "" : "/";
        return hosts + slash + "latchkey_test?collection=" + collection + options;
    }

    private static final class Shared {

        static final String URI = shared(ENVIRONMENT, () -> start().uri());
    }
}
