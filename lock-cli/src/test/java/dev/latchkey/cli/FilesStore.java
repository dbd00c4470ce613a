package dev.latchkey.cli;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.StoreProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Stands in for the stores on servers, whose keys can travel: one file for each resource in {@code $TEST_STORE}, with the
 * token and the end of the lease. Fit for one command after the other, not for races.
 */
final class FilesStore implements ExpiringStore, InspectableStore {

    private static final OptionalLong FENCING_TOKEN = OptionalLong.of(1);

    private final Path directory;

    private FilesStore(Path directory) {
        this.directory = directory;
    }

    private record Row(String token, long endMillis) {
        Duration remaining() {
            return Duration.ofMillis(endMillis - System.currentTimeMillis());
        }
    }

    @Override
    public Attempt save(Request request) {
        Optional<Row> row = row(request.key().resource());
        if (row.isPresent() && !row.get().token().equals(request.key().token())) {
            return new Attempt.Conflicted(Duration.ofMillis(50));
        }
        return write(request);
    }

    @Override
    public Attempt refresh(Request request) {
        return find(request.key()).isPresent() ? write(request) : new Attempt.Lost(LossReason.RELEASED_ELSEWHERE);
    }

    @Override
    public boolean delete(Key key) {
        try {
            return find(key).isPresent() && Files.deleteIfExists(file(key.resource()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Optional<Attempt.Granted> find(Key key) {
        return row(key.resource())
                .filter(row -> row.token().equals(key.token()))
                .map(row -> granted(row.remaining()));
    }

    @Override
    public List<Holder> holders(String resource) {
        return row(resource)
                .map(row -> new Holder(
                        LockMode.EXCLUSIVE, FENCING_TOKEN, Optional.of(row.remaining()), Optional.of("a test")))
                .stream()
                .toList();
    }

    private Attempt write(Request request) {
        try {
            Files.createDirectories(directory);
            long end = System.currentTimeMillis() + request.ttl().toMillis();
            Files.writeString(file(request.key().resource()), request.key().token() + " " + end);
            return granted(request.ttl());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Attempt.Granted granted(Duration left) {
        return new Attempt.Granted(LockMode.EXCLUSIVE, FENCING_TOKEN, Lease.timed(System.nanoTime(), left));
    }

    private Optional<Row> row(String resource) {
        Path file = file(resource);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            List<String> words = List.of(Files.readString(file).split(" "));
            Row row = new Row(words.get(0), Long.parseLong(words.get(1)));
            return row.remaining().isNegative() ? Optional.empty() : Optional.of(row);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path file(String resource) {
        return directory.resolve("x" + HexFormat.of().formatHex(resource.getBytes(StandardCharsets.UTF_8)));
    }

    /** Opens {@code files}. */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("files");
        }

        @Override
        public PersistingStore open(String dsn) {
            String directory = System.getenv("TEST_STORE");
            if (directory == null) {
                throw new IllegalArgumentException("TEST_STORE names no directory");
            }
            return new FilesStore(Path.of(directory));
        }
    }
}
