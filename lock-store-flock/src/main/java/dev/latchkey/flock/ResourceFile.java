package dev.latchkey.flock;

import dev.latchkey.Key;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** One resource of one store, and the file its path led to when it was opened. Guarded by that file. */
final class ResourceFile {

    /**
     * How long a look at the path counts. Looking each time would cost a third of a cycle and could not help anyway
     * against a file that is deleted a moment later.
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

    /** Who a key is in this name's store. */
    Owner owner(Key key) {
        return new Owner(store, key.token());
    }

    boolean isDetached() {
        return detached;
    }

    /** From now on nothing is held or waited for by this name; its store makes another one. */
    void detach() {
        detached = true;
        store.forget(this);
    }

    /** Tells whether the path still leads to the file, from a look not long ago. */
    boolean leadsToFile() throws IOException {
        return System.nanoTime() - lookedNanos < LOOK_COUNTS_NANOS || leadsToFileNow();
    }

    /** Tells whether the path still leads to the file. */
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
