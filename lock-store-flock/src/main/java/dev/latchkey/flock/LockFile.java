package dev.latchkey.flock;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One file in this JVM, whatever names and stores lead to it. Its guard serializes all operations on it, and is never held
 * while a thread blocks in the kernel.
 *
 * <p>A result of null means that the name no longer leads to this file: the caller starts over with a new name.
 */
final class LockFile {

    private final ReentrantLock guard = new ReentrantLock();
    private final OpenFiles openFiles;
    private final KernelLock kernel;
    private final LockEntry entry;
    private final List<ResourceFile> names = new ArrayList<>(1);
    private boolean listed;
    private boolean recentlyUsed;

    /** Creates the lock file for a file that was just opened. */
    LockFile(OpenFiles openFiles, RandomAccessFile file, Object identity) {
        this.openFiles = openFiles;
        this.kernel = new KernelLock(openFiles, file, identity);
        this.entry = new LockEntry(guard, kernel, KernelWait.THREADS);
    }

    Object identity() {
        return kernel.identity();
    }

    /** Closes the file and throws if it is not a lock file: shared holders do not read it. */
    void check() throws IOException {
        guard.lock();
        try {
            kernel.check();
        } finally {
            guard.unlock();
        }
    }

    void attach(ResourceFile name) {
        guard.lock();
        try {
            names.removeIf(ResourceFile::isDetached);
            names.add(name);
        } finally {
            guard.unlock();
        }
    }

    @Nullable Response save(Request request, ResourceFile name) throws IOException {
        guard.lock();
        try {
            return entry.save(request, name);
        } finally {
            unlock();
        }
    }

    @Nullable Response waitAndSave(Request request, ResourceFile name, long endNanos, CompletionStage<?> withdrawn)
            throws IOException, InterruptedException {
        guard.lockInterruptibly();
        try {
            Response response = entry.save(request, name);
            return response instanceof Response.Conflicted ? await(request, name, endNanos, withdrawn) : response;
        } finally {
            unlock();
        }
    }

    private @Nullable Response await(Request request, ResourceFile name, long endNanos, CompletionStage<?> withdrawn)
            throws IOException, InterruptedException {
        Grant own = entry.holds().of(name.owner(request.key()));
        Waiter waiter = new Waiter(request, name, own, guard.newCondition());
        if (!entry.enqueue(waiter)) {
            return Holds.REFUSED;
        }
        boolean interrupted = true;
        try {
            withdrawn.thenRun(() -> withdraw(waiter));
            entry.serve();
            waiter.await(entry, endNanos);
            interrupted = false;
        } finally {
            if (interrupted) {
                waiter.withdraw();
            }
            entry.leave(waiter);
        }
        return waiter.outcome();
    }

    private void withdraw(Waiter waiter) {
        guard.lock();
        try {
            waiter.withdraw();
        } finally {
            guard.unlock();
        }
    }

    boolean delete(Key key, ResourceFile name) throws IOException {
        guard.lock();
        try {
            return entry.delete(name.owner(key), name);
        } finally {
            unlock();
        }
    }

    Optional<Response.Granted> find(Key key, ResourceFile name) throws IOException {
        guard.lock();
        try {
            return entry.find(name.owner(key), name);
        } finally {
            unlock();
        }
    }

    /** Returns what this JVM knows of the holders of the file. */
    FileView look() throws IOException {
        guard.lock();
        try {
            return entry.look();
        } finally {
            unlock();
        }
    }

    /** Tries the lock for a moment to see how another process holds the file. */
    Optional<LockMode> modeElsewhere() throws IOException {
        guard.lock();
        try {
            return entry.modeElsewhere();
        } finally {
            unlock();
        }
    }

    /** The store is closed: its holds end, and its waiters start over and find it closed. */
    void detach(ResourceFile name) {
        guard.lock();
        try {
            if (!name.isDetached()) {
                entry.detach(name, LossReason.STORE_CLOSED);
                entry.serve();
            }
        } finally {
            unlock();
        }
    }

    /** Closes the file if no name leads to it any more and nothing in this JVM uses it. */
    boolean closeIfUnreachable() {
        guard.lock();
        try {
            return !isReachable() && entry.isIdle() && close();
        } finally {
            guard.unlock();
        }
    }

    /** Closes the file if nothing in this JVM uses it; otherwise it has to be settled again. */
    boolean closeIfUnused() {
        guard.lock();
        try {
            listed = false;
            return entry.isIdle() && close();
        } finally {
            guard.unlock();
        }
    }

    /** Whether the file was used since this was last asked. */
    boolean takeRecentlyUsed() {
        guard.lock();
        try {
            boolean was = recentlyUsed;
            recentlyUsed = false;
            return was;
        } finally {
            guard.unlock();
        }
    }

    private boolean close() {
        kernel.close();
        names.forEach(ResourceFile::detach);
        names.clear();
        return true;
    }

    private boolean isReachable() {
        for (int i = 0; i < names.size(); i++) {
            if (!names.get(i).isDetached()) {
                return true;
            }
        }
        return false;
    }

    /** Unlocks the guard, and settles the file if it has just become unused. */
    private void unlock() {
        recentlyUsed = true;
        boolean isNews = entry.isIdle() && (!listed || !isReachable());
        if (isNews) {
            listed = true;
        }
        guard.unlock();
        if (isNews) {
            openFiles.settle(this);
        }
    }
}
