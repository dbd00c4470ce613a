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
 * Keeps holds as the kernel's file locks, in a directory that the processes of one machine share. A hold lasts until it
 * is released, the store is closed or the process ends, however it ends; it has no TTL.
 *
 * <p>One file stands for each resource, and stays for ever. It holds the last fencing token: the next is the greater of
 * that plus one and the clock in microseconds, so that neither a lost file nor a clock set back makes tokens repeat, but
 * for both together. Shared holds have none.
 *
 * <p>In this process those who wait are served first come, first served, readers in a row together. Between processes
 * the kernel chooses, among those that ask when it becomes free; it does not keep new readers back for a waiting writer.
 * A wait costs nothing, with one exception: a reader that waits to promote while other processes read looks again at
 * least every 50 ms, for a kernel lock cannot be waited for without giving the shared one up.
 *
 * <p>All stores of this process may use the same directory, also by other names or links to it: they are rivals like
 * those of other processes. What it cannot survive is code in the same process that opens and closes a lock file by
 * itself, also another class loader's copy of this class: the kernel then drops all this process holds on that file.
 *
 * <p>Thread-safe. Works on local file systems, and on network file systems as far as their locks do.
 */
public final class FlockStore implements SharedStore, BlockingStore, InspectableStore, ProcessBound {

    private final ResourceFiles names;
    private final ProcLocks procLocks;

    /**
     * Uses a directory for the lock files, creating it if it is missing, with what the umask allows. Whoever may create
     * files in it may use its locks: a new lock file is readable and writable for its owner, for the group if the
     * directory is writable for the group, and for others if the directory is writable for others.
     *
     * @param directory where the lock files are; the same one in all processes that are to exclude each other
     * @throws IllegalArgumentException if it cannot be created, is a file, is not writable or not on the default file
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
     * @return true if the key was the holder; false if it was not, and if the lock file was deleted or replaced in the
     *     meantime, so that another process may have been the holder too
     * @throws LockStorageException if the file cannot be looked at; the hold has ended all the same
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
     * {@inheritDoc} A lock file that was deleted or replaced protects nothing any more: what was held by it is lost.
     *
     * @throws LockStorageException if the file cannot be looked at
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
     * {@inheritDoc} Each is described as {@code pid 4711}. On Linux they are those in {@code /proc/locks}, which in a
     * container, or any other PID namespace than the first, leaves out processes that have no number there. Where it shows
     * nobody, and on other systems, the lock is tried for an instant; one holder stands then for all that were found, and a
     * single try of another process in just that instant fails.
     *
     * @throws LockStorageException if the file cannot be looked at, or is not a lock file
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
     * Releases all holds of this store and fails its waits; every later call but {@code delete} and {@code find} throws
     * {@link LockStorageException}. Files that no other store of this process uses are closed.
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
     * Opens {@code flock}, the user's own directory {@code latchkey/locks} in {@code $XDG_STATE_HOME}, by default
     * {@code ~/.local/state}, where {@code ~} is {@code $HOME}, else the home of the user database; and {@code flock:///var/locks}, any directory by its absolute path. The path is taken as it
     * stands: a percent sign is a percent sign.
     */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
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
