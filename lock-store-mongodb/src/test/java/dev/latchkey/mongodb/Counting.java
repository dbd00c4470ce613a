package dev.latchkey.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.bson.BsonDocument;

/** Writes down the commands that a client sends. */
final class Counting implements CommandListener {

    private final List<BsonDocument> sent = new CopyOnWriteArrayList<>();

    @Override
    public void commandStarted(CommandStartedEvent event) {
        // What the event has is gone after this call.
        sent.add(event.getCommand().clone());
    }

    /** Their names. */
    List<String> sent() {
        return sent.stream().map(BsonDocument::getFirstKey).toList();
    }

    List<BsonDocument> sent(String name) {
        return sent.stream()
                .filter(command -> command.getFirstKey().equals(name))
                .toList();
    }

    long count() {
        return sent.size();
    }

    void forget() {
        sent.clear();
    }

    MongoClient client(String uri) {
        return MongoClients.create(MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(uri))
                .addCommandListener(this)
                .build());
    }
}
