package dev.latchkey.benchmarks;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonNull;

/**
 * The two commands of a cycle of Latchkey, taken down once and sent again as they are, by the bare driver. How much longer
 * Latchkey takes is what it adds itself. For one thread: to the server all are the same holder.
 */
final class MongoDbReplay implements CommandListener {

    /** What the driver adds to every command. */
    private static final Set<String> OF_THE_DRIVER =
            Set.of("$db", "$clusterTime", "$readPreference", "lsid", "txnNumber");

    private final List<BsonDocument> commands = new CopyOnWriteArrayList<>();

    private MongoDbReplay() {}

    @Override
    public void commandStarted(CommandStartedEvent event) {
        // Its bytes are used again for others.
        BsonDocument command = BsonDocument.parse(event.getCommand().toJson());
        OF_THE_DRIVER.forEach(command::remove);
        commands.add(command);
    }

    static Contender.Client of(String uri, String database, Function<MongoClient, LockFactory> locks) {
        return resource -> {
            var replay = new MongoDbReplay();
            replay.takeDown(uri, resource, locks);
            return replay.cycle(MongoClients.create(uri).getDatabase(database));
        };
    }

    private void takeDown(String uri, String resource, Function<MongoClient, LockFactory> locks) throws Exception {
        MongoClientSettings settings = MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(uri))
                .addCommandListener(this)
                .build();
        try (MongoClient client = MongoClients.create(settings)) {
            Lock lock = locks.apply(client).createLock(resource, Ours.TTL);
            // After the first release comes the index.
            lock.acquire().release();
            commands.clear();
            lock.acquire().release();
        }
        if (commands.size() != 2) {
            throw new IllegalStateException("a cycle was to be two commands, not " + commands);
        }
    }

    private Cycle cycle(MongoDatabase database) {
        BsonDocument acquire = commands.get(0);
        BsonDocument release = commands.get(1);
        return new Cycle() {
            @Override
            public void take() {
                database.runCommand(acquire, BsonDocument.class);
            }

            @Override
            public boolean giveUp() {
                return database.runCommand(release, BsonDocument.class)
                        .get("value", BsonNull.VALUE)
                        .isDocument();
            }
        };
    }
}
