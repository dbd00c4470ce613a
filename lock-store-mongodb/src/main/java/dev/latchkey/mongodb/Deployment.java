package dev.latchkey.mongodb;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoDatabase;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.time.Duration;
import java.util.Optional;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;

/**
 * Finds out whose clock decides: that of the primary or, in a sharded cluster, that of each router. Asked once, before the first
 * lease starts, so that the time to connect is not part of a lease.
 */
final class Deployment {

    private static final BsonValue ROUTER = new BsonString("isdbgrid");
    private static final int COMMAND_NOT_FOUND = 59;

    private final MongoDatabase database;
    private final DriverCalls calls;
    private final Optional<Duration> allowedClockSkew;
    private volatile boolean isKnown;

    Deployment(MongoDatabase database, DriverCalls calls, Optional<Duration> allowedClockSkew) {
        this.database = database;
        this.calls = calls;
        this.allowedClockSkew = allowedClockSkew;
    }

    /** Returns for how long the lease of another key still counts after its end. */
    Duration skew() {
        return allowedClockSkew.orElse(Duration.ZERO);
    }

    /** Throws if two routers with different clocks could grant one lock twice. */
    void check(String resource) {
        if (isKnown) {
            return;
        }
        BsonDocument hello = calls.repeated(resource, this::hello);
        if (ROUTER.equals(hello.get("msg")) && allowedClockSkew.isEmpty()) {
            throw new LockStorageException(
                    resource,
                    "this is a sharded cluster, where each mongos decides by its own clock: say by how much these can differ,"
                            + " with allowedClockSkew(…), or allowedClockSkewMS=… in the DSN",
                    null,
                    Failure.NOT_SENT);
        }
        isKnown = true;
    }

    private BsonDocument hello() {
        try {
            return run("hello");
        } catch (MongoCommandException e) {
            if (e.getErrorCode() != COMMAND_NOT_FOUND) {
                throw e;
            }
            // Its name before 4.4.2.
            return run("isMaster");
        }
    }

    private BsonDocument run(String command) {
        return database.runCommand(new BsonDocument(command, new BsonInt32(1)), BsonDocument.class);
    }
}
