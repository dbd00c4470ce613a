package dev.latchkey.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down the commands that a client sends. */
final class Counting implements CommandListener {

    private final List<String> sent = new CopyOnWriteArrayList<>();

    @Override
    public void commandStarted(CommandStartedEvent event) {
        sent.add(event.getCommandName());
    }

    List<String> sent() {
        return List.copyOf(sent);
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
