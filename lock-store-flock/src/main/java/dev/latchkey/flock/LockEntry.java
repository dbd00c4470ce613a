package dev.latchkey.flock;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Those in this JVM who hold one file and who wait for it; guarded by the file.
 *
 * <ol>
 *   <li>Nobody overtakes the queue, except a holder that renews, demotes, or promotes as the only one left: the others
 *       would wait for it in vain.
 *   <li>A waiting promoter stands at the head and has begun its conversion, so it is the only one in all processes: a
 *       second one is refused, for each would wait for the other.
 *   <li>Whoever is first when nobody in this JVM holds the file, and another process does, waits in the kernel. This JVM
 *       holds nothing then, so that breaking off the wait, which closes the channel, costs nobody a lock.
 *   <li>A lock goes from one in this JVM to the next at once, but after some in a row the next waits in the kernel too,
 *       where other processes have the same chance.
 *   <li>A promoter cannot wait in the kernel for readers of other processes without giving its shared hold up: it looks
 *       again and again, with growing pauses.
 * </ol>
 *
 * <p>An answer of null means to start over: the path leads to another file now, or there is nothing left to promote.
 */
final class LockEntry {

    private static final int MOST_IN_A_ROW = 16;

    private final ReentrantLock guard;
    private final Condition kernelWaitOver;
    private final KernelLock kernel;
    private final Executor threads;
    private final Holds holds;
    private final Deque<Waiter> queue = new ArrayDeque<>(2);
    private @Nullable KernelWait kernelWait;
    private int inARow;

    /**
     * Begins with nobody.
     *
     * @param threads to wait in the kernel on
     */
    LockEntry(ReentrantLock guard, KernelLock kernel, Executor threads) {
        this.guard = guard;
        this.kernelWaitOver = guard.newCondition();
        this.kernel = kernel;
        this.threads = threads;
        this.holds = new Holds(kernel);
    }

    Holds holds() {
        return holds;
    }

    boolean isIdle() {
        return holds.isEmpty() && queue.isEmpty() && kernelWait == null;
    }

    @Nullable Response save(Request request, ResourceFile name) throws IOException {
        Owner owner = name.owner(request.key());
        Grant own = holds.of(owner);
        Optional<Key.Held> claimed = request.key().held();
        if (own != null && !name.leadsToFile()) {
            fileGone(name);
            return Holds.fileGone(claimed);
        }
        if (claimed.isPresent()) {
            Optional<Response.Lost> lost = holds.lost(claimed.get(), own);
            if (lost.isPresent()) {
                return lost.get();
            }
        }
        if (own == null) {
            return queue.isEmpty() && holds.admit(request.mode())
                    ? take(owner, name, request.mode())
                    : Response.Conflicted.NO_HINT;
        }
        boolean isConversion =
                request.mode() == LockMode.EXCLUSIVE ? own.mode() == LockMode.SHARED : request.isDemotion();
        return isConversion ? convert(request, owner, own) : own.answer();
    }

    private Response convert(Request request, Owner owner, Grant own) throws IOException {
        try {
            return request.mode() == LockMode.EXCLUSIVE
                    ? holds.promoteNow(owner, own, request.retryIntent())
                    : holds.demote(owner, own);
        } finally {
            // Also of a failure: what it began with may be lost by it.
            serve();
        }
    }

    private @Nullable Response take(Owner owner, ResourceFile name, LockMode mode) throws IOException {
        if (!kernel.isOpen() && !kernel.reopen(name.path())) {
            detach(name);
            return null;
        }
        Response response = holds.take(owner, name, mode);
        if (response == null) {
            detach(name);
        }
        return response;
    }

    boolean delete(Owner owner, ResourceFile name) throws IOException {
        if (!holds.remove(owner)) {
            return false;
        }
        try {
            boolean wasHolder = name.leadsToFile();
            if (!wasHolder) {
                detach(name);
            }
            return wasHolder;
        } finally {
            serve();
        }
    }

    Optional<Response.Granted> find(Owner owner, ResourceFile name) throws IOException {
        Grant own = holds.of(owner);
        if (own == null) {
            return Optional.empty();
        }
        if (!name.leadsToFileNow()) {
            fileGone(name);
            return Optional.empty();
        }
        return Optional.of(own.answer());
    }

    /** A holder's file is gone. Who waits for it through other stores has to find that too, and nobody else tells them. */
    private void fileGone(ResourceFile name) {
        detach(name);
        serve();
    }

    /** The name leads elsewhere: what was held by it protects nothing any more, and who waits has to start over. */
    private void detach(ResourceFile name) {
        detach(name, LossReason.SESSION_LOST);
    }

    /** Nobody holds or waits by this name any more. */
    void detach(ResourceFile name, LossReason reason) {
        name.detach();
        holds.loseAll(name, reason);
        queue.stream().filter(waiter -> waiter.name() == name).forEach(Waiter::startOver);
        queue.removeIf(waiter -> waiter.name() == name);
        cancelKernelWaitUnlessFor(queue.peekFirst());
    }

    /** Joins the queue; false for a promoter when another one waits already, here or in another process. */
    boolean enqueue(Waiter waiter) throws IOException {
        Waiter head = queue.peekFirst();
        if (!waiter.isPromoter()) {
            queue.addLast(waiter);
        } else if ((head != null && head.isPromoter()) || !kernel.beginConversion()) {
            return false;
        } else {
            queue.addFirst(waiter);
        }
        serve();
        return true;
    }

    /** The wait is over: a grant to one who no longer wants it is undone, and a promoter is shared again. */
    void leave(Waiter waiter) throws IOException {
        queue.remove(waiter);
        try {
            if (waiter.isWithdrawn() && waiter.isGranted()) {
                undo(waiter);
            }
        } finally {
            if (waiter.isPromoter()) {
                holds.endConversion();
            }
            cancelKernelWaitUnlessFor(queue.peekFirst());
            while (kernelWait != null && kernelWait.isCancelled()) {
                kernelWaitOver.awaitUninterruptibly();
            }
            serve();
        }
    }

    private void undo(Waiter waiter) throws IOException {
        Grant granted = holds.of(waiter.owner());
        if (granted != null && waiter.isPromoter()) {
            holds.demote(waiter.owner(), granted);
        } else {
            holds.remove(waiter.owner());
        }
    }

    /** Grants what can be granted, from the head of the queue on. */
    void serve() {
        Waiter head = queue.peekFirst();
        while (head != null && kernelWait == null && isDone(head)) {
            queue.remove(head);
            head = queue.peekFirst();
        }
    }

    private boolean isDone(Waiter head) {
        try {
            Response response = head.isPromoter() ? promote(head) : grant(head);
            if (response instanceof Response.Conflicted) {
                return false;
            }
            if (response == null) {
                head.startOver();
            } else {
                head.answer(response);
            }
        } catch (IOException e) {
            head.fail(e);
        }
        return true;
    }

    private @Nullable Response grant(Waiter head) throws IOException {
        head.lookNoMore();
        if (!holds.admit(head.mode())) {
            return Response.Conflicted.NO_HINT;
        }
        boolean goesThroughKernel = inARow >= MOST_IN_A_ROW && kernel.isOpen() && !kernel.isHeld();
        Response response =
                goesThroughKernel ? Response.Conflicted.NO_HINT : take(head.owner(), head.name(), head.mode());
        if (response == Holds.GAVE_WAY) {
            head.lookAgainLater();
        } else if (response instanceof Response.Conflicted) {
            awaitInKernel(head);
        } else {
            inARow++;
        }
        return response;
    }

    /** Where no thread is to be had for that, the head of the queue looks again by itself. */
    private void awaitInKernel(Waiter head) {
        kernelWait = KernelWait.begin(threads, guard, kernel, head.mode(), this);
        if (kernelWait == null) {
            inARow = 0;
            head.lookAgainLater();
        }
    }

    private @Nullable Response promote(Waiter head) throws IOException {
        Grant own = holds.of(head.owner());
        if (own == null && head.request().key().held().isEmpty()) {
            // Released by another caller with the same key, it has nothing to promote: it waits to take, as any other.
            return null;
        }
        if (own == null || own.mode() == LockMode.EXCLUSIVE || !head.name().leadsToFile()) {
            return save(head.request(), head.name());
        }
        head.lookNoMore();
        Response response = holds.isOnlyOne() ? holds.promote(head.owner(), own) : Response.Conflicted.NO_HINT;
        if (response instanceof Response.Conflicted && holds.isOnlyOne()) {
            head.lookAgainLater();
        }
        return response;
    }

    /** How another process holds the file; to one that waits in the kernel, exclusively. */
    Optional<LockMode> modeElsewhere() throws IOException {
        if (kernelWait != null) {
            return Optional.of(LockMode.EXCLUSIVE);
        }
        return holds.isEmpty() && kernel.isOpen() ? kernel.modeElsewhere() : Optional.empty();
    }

    /** Breaks the wait in the kernel off, unless the first in the queue needs just that one. */
    private void cancelKernelWaitUnlessFor(@Nullable Waiter head) {
        if (kernelWait != null && (head == null || head.mode() != kernelWait.mode())) {
            kernelWait.cancel();
        }
    }

    /** The wait in the kernel has ended, with the lock or without. */
    void kernelWaitEnded(KernelWait ended, @Nullable FileLock lock) {
        kernelWait = null;
        inARow = 0;
        kernelWaitOver.signalAll();
        Waiter head = queue.peekFirst();
        if (lock != null) {
            kernel.adopt(lock);
            if (ended.isCancelled()) {
                kernel.release();
            } else if (head != null) {
                head.lookSoonAgain();
            }
        } else if (!ended.isCancelled() && head != null) {
            // The kernel would not let it wait: it takes two processes with a wait each for a deadlock, though other
            // threads of theirs hold the locks.
            head.lookAgainLater();
            return;
        }
        serve();
    }
}
