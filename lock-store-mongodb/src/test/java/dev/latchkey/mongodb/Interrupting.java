package dev.latchkey.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import dev.latchkey.mongodb.FaultsIT.When;

/** Interrupts the thread that has a command sent, in the middle of the next one. */
final class Interrupting implements CommandListener {

    private final When when;
    private volatile boolean begun;
    private volatile boolean interrupted;

    Interrupting(When when) {
        this.when = when;
    }

    MongoClient client(String uri) {
        return MongoClients.create(MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(uri))
                .addCommandListener(this)
                .build());
    }

    void begin() {
        interrupted = false;
        begun = true;
    }

    boolean hasInterrupted() {
        return interrupted;
    }

    @Override
    public void commandStarted(CommandStartedEvent event) {
        interruptIf(When.BEFORE_IT_IS_SENT);
    }

    @Override
    public void commandSucceeded(CommandSucceededEvent event) {
        interruptIf(When.AFTER_THE_ANSWER);
    }

    private void interruptIf(When now) {
        if (begun && when == now) {
            begun = false;
            interrupted = true;
            Thread.currentThread().interrupt();
        }
    }
}
