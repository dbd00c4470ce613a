package dev.latchkey.flock;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * All lock files that this JVM has open, each once, whatever names and stores lead to it.
 *
 * <p>The kernel keeps POSIX locks by process and file, not by channel: closing a second channel of a file would drop the
 * locks of the first. So there is one channel per file, which is closed only while nobody in this JVM holds the file or
 * waits for it. Some unused files stay open, so that the next use need not open them.
 *
 * <p>Thread-safe. A file's guard may be taken under this one, never the other way round.
 */
final class OpenFiles {

    /** Static, because locks belong to the process. */
    static final OpenFiles OF_THIS_JVM = new OpenFiles();

    static final int MOST_UNUSED = 8;

    private final ReentrantLock guard = new ReentrantLock();
    private final Map<Object, LockFile> files = new HashMap<>();
    private final Set<LockFile> unused = new LinkedHashSet<>();
    private final Queue<RandomAccessFile> strays = new ConcurrentLinkedQueue<>();
    private int stores;

    private OpenFiles() {}

    /** Registers a store. */
    void enter() {
        guard.lock();
        try {
            stores++;
        } finally {
            guard.unlock();
        }
    }

    /** Ends the holds of a closed store; its waiters start over and find it closed. */
    void leave(Collection<ResourceFile> names) {
        guard.lock();
        try {
            for (ResourceFile name : List.copyOf(names)) {
                name.file().detach(name);
            }
            if (--stores == 0) {
                closeStrays();
            }
        } finally {
            guard.unlock();
        }
    }

    /** Opens the file of a resource, unless it is open already. */
    ResourceFile open(ResourceFiles store, String resource) throws IOException {
        Path path = store.directory().file(resource);
        guard.lock();
        try {
            ResourceFile known = store.known(resource);
            return known != null ? known : attach(store, resource, path);
        } finally {
            guard.unlock();
        }
    }

    private ResourceFile attach(ResourceFiles store, String resource, Path path) throws IOException {
        LockFile file = null;
        while (file == null) {
            Object identity = store.directory().identityOrCreate(path);
            file = files.get(identity);
            if (file == null) {
                file = open(path, identity);
            }
        }
        try {
            ResourceFile name = store.add(resource, path, file);
            file.attach(name);
            return name;
        } catch (IOException e) {
            // The store was closed meanwhile. Nobody else may ever use the file that was opened for it.
            settle(file);
            throw e;
        }
    }

    private @Nullable LockFile open(Path path, Object identity) throws IOException {
        RandomAccessFile opened = openIf(path, identity);
        if (opened == null) {
            return null;
        }
        LockFile file = new LockFile(this, opened, identity);
        file.check();
        files.put(identity, file);
        return file;
    }

    /** Opens what a path leads to; returns null if that is no longer the expected file. */
    @Nullable RandomAccessFile openIf(Path path, Object identity) throws IOException {
        RandomAccessFile file = openForWriting(path, identity);
        if (file == null) {
            return null;
        }
        boolean isThatOne = false;
        try {
            isThatOne = LockDirectory.identity(path).equals(identity);
        } catch (NoSuchFileException e) {
            // Deleted between the two checks.
        } finally {
            if (!isThatOne) {
                // It may be another file that this JVM has locked: closing it could drop that lock.
                strays.add(file);
            }
        }
        if (!isThatOne) {
            // If the expected file was deleted just before, opening has created this one.
            NewFile.in(path.resolveSibling(".")).giveRights(path);
            return null;
        }
        return file;
    }

    private @Nullable RandomAccessFile openForWriting(Path path, Object identity) throws IOException {
        try {
            return new RandomAccessFile(path.toFile(), "rw");
        } catch (FileNotFoundException e) {
            if (!Files.exists(path)) {
                throw e;
            }
            if (!Files.isReadable(path) || !Files.isWritable(path)) {
                throw new AccessDeniedException(
                        path.toString(),
                        null,
                        "user " + System.getProperty("user.name") + " may not read and write it");
            }
            return ExistingFile.open(path, identity, strays::add);
        }
    }

    /** Closes a file that is no longer used if no name leads to it; otherwise keeps it open with a few others. */
    void settle(LockFile file) {
        guard.lock();
        try {
            unused.add(file);
            if (file.closeIfUnreachable()) {
                remove(file);
            }
            for (int spared = 0; unused.size() > MOST_UNUSED; ) {
                LockFile eldest = unused.iterator().next();
                unused.remove(eldest);
                if (spared < MOST_UNUSED && eldest.takeRecentlyUsed()) {
                    spared++;
                    unused.add(eldest);
                } else if (eldest.closeIfUnused()) {
                    remove(eldest);
                }
            }
        } finally {
            guard.unlock();
        }
    }

    private void remove(LockFile file) {
        files.remove(file.identity(), file);
        unused.remove(file);
    }

    private void closeStrays() {
        for (RandomAccessFile stray = strays.poll(); stray != null; stray = strays.poll()) {
            try {
                stray.close();
            } catch (IOException e) {
                // Nothing was buffered, and the descriptor is closed in any case.
            }
        }
    }
}
