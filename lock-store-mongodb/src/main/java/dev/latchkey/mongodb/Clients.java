package dev.latchkey.mongodb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Opens clients for URIs, with time limits for servers that do not answer. Options in the URI have precedence. */
final class Clients {

    private static final int FIND_SERVER_SECONDS = 5;
    private static final int CONNECT_SECONDS = 5;
    private static final int ANSWER_SECONDS = 10;

    private Clients() {}

    static ConnectionString parse(String uri) {
        try {
            return new ConnectionString(uri);
        } catch (IllegalArgumentException e) {
            // Its message may contain the password.
            throw new IllegalArgumentException(
                    "a MongoDB URI has the form mongodb://user:password@host:port/database?collection=name, with special"
                            + " characters of user and password percent-encoded, and options of the MongoDB driver");
        } catch (MongoException e) {
            throw DriverCalls.failure("", e);
        }
    }

    static MongoClient open(ConnectionString uri) {
        MongoClientSettings.Builder settings = MongoClientSettings.builder().applyConnectionString(uri);
        if (isUnset(uri.getServerSelectionTimeout())) {
            settings.applyToClusterSettings(
                    cluster -> cluster.serverSelectionTimeout(FIND_SERVER_SECONDS, TimeUnit.SECONDS));
        }
        if (isUnset(uri.getConnectTimeout())) {
            settings.applyToSocketSettings(socket -> socket.connectTimeout(CONNECT_SECONDS, TimeUnit.SECONDS));
        }
        if (isUnset(uri.getSocketTimeout())) {
            settings.applyToSocketSettings(socket -> socket.readTimeout(ANSWER_SECONDS, TimeUnit.SECONDS));
        }
        if (uri.getApplicationName() == null) {
            settings.applicationName("latchkey");
        }
        return MongoClients.create(settings.build());
    }

    private static boolean isUnset(@Nullable Integer millis) {
        return millis == null;
    }
}
