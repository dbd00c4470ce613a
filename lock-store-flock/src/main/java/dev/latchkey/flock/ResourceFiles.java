package dev.latchkey.flock;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The resources of one store whose files are open. Thread-safe. */
final class ResourceFiles {

    private final LockDirectory directory;
    private final OpenFiles openFiles;
    private final ConcurrentMap<String, ResourceFile> names = new ConcurrentHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();

    ResourceFiles(LockDirectory directory, OpenFiles openFiles) {
        this.directory = directory;
        this.openFiles = openFiles;
        openFiles.enter();
    }

    LockDirectory directory() {
        return directory;
    }

    /** Returns the name and opens its file; the name may be detached again by then. */
    ResourceFile get(String resource) throws IOException {
        ResourceFile known = names.get(resource);
        if (closed.get()) {
            throw new IOException("the store was closed");
        }
        return known != null ? known : openFiles.open(this, resource);
    }

    /** Returns the name if its file is open; otherwise this store holds nothing on it. */
    Optional<ResourceFile> find(String resource) {
        return Optional.ofNullable(names.get(resource));
    }

    void forget(ResourceFile name) {
        names.remove(name.resource(), name);
    }

    /** For the open files alone, under their guard. */
    @Nullable ResourceFile known(String resource) {
        return names.get(resource);
    }

    /** For the open files alone, under their guard. */
    ResourceFile add(String resource, Path path, LockFile file) throws IOException {
        if (closed.get()) {
            throw new IOException("the store was closed");
        }
        ResourceFile name = new ResourceFile(this, resource, path, file);
        names.put(resource, name);
        return name;
    }

    void close() {
        if (closed.compareAndSet(false, true)) {
            openFiles.leave(names.values());
            names.clear();
        }
    }
}
