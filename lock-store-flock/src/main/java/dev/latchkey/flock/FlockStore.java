package dev.latchkey.flock;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StoreProvider;
import java.io.File;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * A lock store that uses the kernel's file locks, in a directory that the processes of one machine share. A hold lasts
 * until it is released, the store is closed, or the process ends in any way. Holds have no TTL.
 *
 * <p>Each resource has one file, which is never deleted. The file contains the last fencing token. The next token is the
 * last one plus one, or the clock in microseconds if that is greater. Tokens therefore repeat only if a file is lost and
 * the clock is set back as well. Shared holds have no token.
 *
 * <p>Waiters in this process are served in FIFO order, consecutive readers together. Between processes, the kernel
 * chooses among those that wait when the lock becomes free; it does not keep new readers back for a waiting writer.
 * Waiting costs nothing, with one exception: a reader that waits for promotion while other processes read tries again at
 * least every 50 ms, because a kernel lock cannot be waited for without giving up the shared one.
 *
 * <p>Several stores of this process may use the same directory, also by other names or links: they exclude each other
 * like stores of different processes. The locks do not survive other code in the same process that opens and closes a
 * lock file, including a copy of this class in another class loader: the kernel then drops all locks of this process on
 * that file.
 *
 * <p>Works on local file systems, and on network file systems as far as their file locks work.
 *
 * <p>Thread-safe.
 */
public final class FlockStore implements SharedStore, BlockingStore, InspectableStore, ProcessBound {

    private final ResourceFiles names;
    private final ProcLocks procLocks;

    /**
     * Creates a store that uses a directory for its lock files. If the directory does not exist, it is created with the
     * permissions that the umask allows. Everybody who may create files in it may use its locks: a new lock file is
     * readable and writable for its owner, for the group if the directory is writable for the group, and for others if
     * the directory is writable for others.
     *
     * @param directory the directory of the lock files; the same in all processes that must exclude each other
     * @throws IllegalArgumentException if it cannot be created, is a file, is not writable, or is not on the default file
     *     system; the message says which
     */
    public FlockStore(Path directory) {
        this(directory, Path.of("/proc/locks"));
    }

    FlockStore(Path directory, Path procLocks) {
        this.names = new ResourceFiles(
                new LockDirectory(Objects.requireNonNull(directory, "directory")), OpenFiles.OF_THIS_JVM);
        this.procLocks = new ProcLocks(procLocks);
    }

    @Override
    public Response save(Request request) {
        String resource = request.key().resource();
        try {
            Response response;
            do {
                ResourceFile name = names.get(resource);
                response = name.file().save(request, name);
            } while (response == null);
            return response;
        } catch (IOException e) {
            throw failed(resource, e);
        }
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        String resource = request.key().resource();
        long endNanos = System.nanoTime() + maxWait.toNanos();
        try {
            Response response;
            do {
                ResourceFile name = names.get(resource);
                response = name.file().waitAndSave(request, name, endNanos, withdrawn);
            } while (response == null);
            return response;
        } catch (IOException e) {
            throw failed(resource, e);
        }
    }

    /**
     * {@inheritDoc}
     *
     * @return true if the key was the holder; false if it was not, or if the lock file was deleted or replaced in the
     *     meantime, so that another process may have been the holder, too
     * @throws LockStorageException if the file cannot be read; the hold has ended nevertheless
     */
    @Override
    public boolean delete(Key key) {
        Optional<ResourceFile> name = names.find(key.resource());
        try {
            return name.isPresent() && name.get().file().delete(key, name.get());
        } catch (IOException e) {
            throw failed(key.resource(), e);
        }
    }

    /**
     * {@inheritDoc} A lock file that was deleted or replaced no longer protects anything: its holds are lost.
     *
     * @throws LockStorageException if the file cannot be read
     */
    @Override
    public Optional<Response.Granted> find(Key key) {
        Optional<ResourceFile> name = names.find(key.resource());
        try {
            return name.isPresent() ? name.get().file().find(key, name.get()) : Optional.empty();
        } catch (IOException e) {
            throw failed(key.resource(), e);
        }
    }

    /**
     * {@inheritDoc} Each holder is described as {@code pid 4711}. On Linux, the holders are those in {@code /proc/locks}.
     * In a container, or in any PID namespace other than the first, this file omits processes that have no PID there, and
     * a long one omits some that have. If it shows no holder then, and on other systems, the store tries the lock for a
     * moment. The result then has one holder that stands for all, and an attempt of another process without waiting fails at
     * that moment.
     *
     * @throws LockStorageException if the file cannot be read, or is not a lock file
     */
    @Override
    public List<Holder> holders(String resource) {
        try {
            if (!Files.exists(fileOf(resource))) {
                return List.of();
            }
            ResourceFile name = names.get(resource);
            return new Inspection(name, procLocks).holders();
        } catch (IOException e) {
            throw failed(resource, e);
        }
    }

    @Override
    public String reason() {
        return "a file lock belongs to the process that took it";
    }

    /**
     * Releases all holds of this store and fails its waits. Every later call except {@code delete} and {@code find}
     * throws a {@link LockStorageException}. Files that no other store of this process uses are closed.
     */
    @Override
    public void close() {
        names.close();
    }

    Path fileOf(String resource) {
        return names.directory().file(resource);
    }

    /** Who held a resource exclusively last, from the record in its file. */
    FileRecord.Entry last(String resource) throws IOException {
        return names.get(resource).file().look().last();
    }

    private LockStorageException failed(String resource, IOException cause) {
        return new LockStorageException(
                resource,
                "lock file " + fileOf(resource) + ": " + cause.getMessage(),
                cause,
                cause instanceof AccessDeniedException
                        ? LockStorageException.Failure.DENIED
                        : LockStorageException.Failure.IN_DOUBT);
    }

    /**
     * Opens {@code flock} and {@code flock:///var/locks}. {@code flock} uses the user's own directory:
     * {@code latchkey/locks} in {@code $XDG_STATE_HOME}, by default in {@code ~/.local/state}, where {@code ~} is
     * {@code $HOME}, or else the home directory in the user database. {@code flock:///var/locks} uses any directory by
     * its absolute path. The path is not decoded: a percent sign is a percent sign.
     */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("flock");
        }

        @Override
        public PersistingStore open(String dsn) {
            if (dsn.equals("flock")) {
                return new FlockStore(UserDirectory.locate(System::getenv, System.getProperty("user.home")));
            }
            String prefix = "flock://";
            if (!dsn.startsWith(prefix + "/")) {
                throw new IllegalArgumentException(
                        "\"" + dsn + "\" names no directory: write flock for the user's own, or "
                                + "flock:// and an absolute path, as in flock:///var/locks");
            }
            // java.io.File, unlike Path, reads /C:/locks on Windows as it is meant.
            return new FlockStore(new File(dsn.substring(prefix.length())).toPath());
        }
    }
}
