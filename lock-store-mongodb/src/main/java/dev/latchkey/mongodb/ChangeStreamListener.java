package dev.latchkey.mongodb;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.MongoCursor;
import dev.latchkey.spi.ReleaseSubscriptions;
import java.time.Duration;
import java.util.Optional;
import org.bson.BsonDocument;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Receives releases from one change stream. If the deployment refuses the stream, it is not tried again. */
record ChangeStreamListener(LockCommands documents) implements ReleaseSubscriptions.Source {

    private static final Logger log = LoggerFactory.getLogger(MongoDbStore.class);
    private static final Duration AWAIT = Duration.ofSeconds(1);

    /** A server outside of a replica set has no change streams. */
    private static final int ONLY_ON_REPLICA_SETS = 40573;

    private static final int UNAUTHORIZED = 13;

    @Override
    public Optional<String> listen(ReleaseSubscriptions wakeups) {
        try (MongoCursor<BsonDocument> releases = documents.releases(AWAIT)) {
            wakeups.listening();
            while (wakeups.isWanted() && releases.getServerCursor() != null) {
                Optional.ofNullable(releases.tryNext()).map(ReleaseEvents::name).ifPresent(wakeups::wake);
            }
            return Optional.empty();
        } catch (MongoCommandException e) {
            endIfRefused(wakeups, e);
            return Optional.of(String.valueOf(e.getErrorMessage()));
        } catch (MongoException | IllegalStateException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static void endIfRefused(ReleaseSubscriptions wakeups, MongoCommandException e) {
        if (e.getErrorCode() == ONLY_ON_REPLICA_SETS) {
            log.debug("lock.change_stream_unavailable reason=\"not a replica set\"");
            wakeups.close();
        } else if (e.getErrorCode() == UNAUTHORIZED) {
            log.warn("lock.change_stream_unavailable code={} problem={}", e.getErrorCode(), e.getErrorMessage());
            wakeups.close();
        }
    }
}
