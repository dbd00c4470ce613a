package dev.latchkey.spring;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides which store it is, and opens it. */
final class StoreChoice implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(StoreChoice.class);

    private static final Map<String, String> NEEDED = Map.of(
            "jdbc", "a DataSource: add spring-boot-starter-jdbc and spring.datasource.url",
            "redis",
                    "a LettuceConnectionFactory: add spring-boot-starter-data-redis, with Lettuce, and spring.data.redis.url",
            "mongodb", "a MongoClient: add spring-boot-starter-mongodb and spring.mongodb.uri");

    private final @Nullable String wanted;
    private final List<StoreSource> sources;
    private volatile @Nullable OpenStore opened;

    StoreChoice(@Nullable String wanted, List<StoreSource> sources) {
        this.wanted = wanted == null || wanted.isBlank() ? null : wanted.strip();
        this.sources = sources;
    }

    /** Whether a DSN is to be opened, which is only known to be right then. */
    boolean isDsn() {
        return wanted != null && !NEEDED.containsKey(wanted);
    }

    /** What is known of it without opening anything. */
    String description() {
        return isDsn()
                ? "that of latchkey.store"
                : source().map(StoreSource::description).orElse("files of this machine");
    }

    /**
     * Returns the client to use; empty for a DSN, or files.
     *
     * @throws LatchkeyConfigurationException if it cannot be decided, or is not there
     */
    Optional<StoreSource> source() {
        if (isDsn() || (wanted == null && sources.isEmpty())) {
            return Optional.empty();
        }
        List<StoreSource> fitting = sources.stream()
                .filter(source -> wanted == null || source.name().equals(wanted))
                .toList();
        if (fitting.isEmpty()) {
            throw new LatchkeyConfigurationException(
                    "latchkey.store is " + wanted + ", and the application has no client for that.",
                    "It takes " + NEEDED.get(wanted) + ", and the artifact dev.latchkey:lock-store-" + wanted
                            + ". Or set latchkey.store to a DSN.");
        }
        if (fitting.size() > 1) {
            throw severalSources(fitting);
        }
        return Optional.of(fitting.get(0));
    }

    private static LatchkeyConfigurationException severalSources(List<StoreSource> fitting) {
        String descriptions = fitting.stream().map(StoreSource::description).collect(Collectors.joining(", "));
        String names = fitting.stream().map(StoreSource::name).collect(Collectors.joining(" or "));
        return new LatchkeyConfigurationException(
                "Locks could be kept in several stores of this application: " + descriptions
                        + ". All instances, and all applications that share a lock, have to keep it in the same.",
                "Set latchkey.store to " + names + ".");
    }

    PersistingStore open() {
        OpenStore one = source().map(source -> source.open().get()).orElseGet(this::connect);
        opened = one;
        return one.store();
    }

    /** Closes what was opened; nothing happens to it after that. */
    @Override
    public void close() {
        OpenStore one = opened;
        if (one != null) {
            one.store().close();
            one.end().run();
        }
    }

    private OpenStore connect() {
        if (wanted == null) {
            log.info(
                    "Latchkey keeps locks in files, which exclude the processes of this machine alone: the application has"
                            + " no DataSource, Redis or MongoDB, and latchkey.store is not set");
        }
        try {
            return OpenStore.of(StoreProvider.connect(wanted == null ? "flock" : wanted));
        } catch (IllegalArgumentException e) {
            throw new LatchkeyConfigurationException(
                    "latchkey.store cannot be opened: " + e.getMessage() + ".",
                    "Correct latchkey.store: jdbc, redis or mongodb for a client of the application, or a DSN such as"
                            + " redis://host:6379, postgresql://user:password@host/database or flock:///var/locks.",
                    e);
        } catch (LinkageError e) {
            throw new LatchkeyConfigurationException(
                    "latchkey.store cannot be opened: a class of its driver is not on the class path, " + e.getMessage()
                            + ".",
                    "Add the driver: io.lettuce:lettuce-core for Redis, org.mongodb:mongodb-driver-sync for MongoDB,"
                            + " com.zaxxer:HikariCP and that of the database for SQL.",
                    e);
        }
    }
}
