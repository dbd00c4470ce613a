package dev.latchkey.flock;

import dev.latchkey.Key;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A resource of one store, and the file that its path led to when it was opened. Guarded by the guard of that file. */
final class ResourceFile {

    /**
     * How long a check of the path is valid. Checking each time would cost a third of a cycle, and would not notice a
     * file that is deleted a moment later anyway.
     */
    static final long LOOK_COUNTS_NANOS = 1_000_000;

    private final ResourceFiles store;
    private final String resource;
    private final Path path;
    private final LockFile file;
    private long lookedNanos = System.nanoTime();
    private boolean detached;

    ResourceFile(ResourceFiles store, String resource, Path path, LockFile file) {
        this.store = store;
        this.resource = resource;
        this.path = path;
        this.file = file;
    }

    ResourceFiles store() {
        return store;
    }

    String resource() {
        return resource;
    }

    Path path() {
        return path;
    }

    LockFile file() {
        return file;
    }

    /** Returns the owner that a key stands for in this store. */
    Owner owner(Key key) {
        return new Owner(store, key.token());
    }

    boolean isDetached() {
        return detached;
    }

    /** From now on this name is not used; its store creates another one. */
    void detach() {
        detached = true;
        store.forget(this);
    }

    /** Returns whether the path led to the file when it was last checked, a short time ago. */
    boolean leadsToFile() throws IOException {
        return System.nanoTime() - lookedNanos < LOOK_COUNTS_NANOS || leadsToFileNow();
    }

    /** Returns whether the path leads to the file. */
    boolean leadsToFileNow() throws IOException {
        long now = System.nanoTime();
        boolean leads = leadsNow();
        if (leads) {
            lookedNanos = now;
        }
        return leads;
    }

    private boolean leadsNow() throws IOException {
        try {
            return LockDirectory.identity(path).equals(file.identity());
        } catch (NoSuchFileException e) {
            return false;
        }
    }
}
