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
 * The holders of one file in this JVM, and the queue of those that wait for it. Guarded by the file's guard.
 *
 * <ol>
 *   <li>Only a holder overtakes the queue: to renew, to demote, or to promote as the only holder. The waiters wait for it
 *       in any case.
 *   <li>A waiting promoter is at the head of the queue and has begun its conversion, so it is the only one in all
 *       processes. A second one is refused, because each would wait for the other.
 *   <li>If another process holds the file and nobody in this JVM does, the head of the queue waits in the kernel. This JVM
 *       holds nothing then, so cancelling the wait, which closes the channel, loses no lock.
 *   <li>A released lock passes to the next waiter in this JVM at once. After some such grants in a row, the next waiter
 *       waits in the kernel, so that other processes get their turn.
 *   <li>A promoter cannot wait in the kernel for readers of other processes without giving up its shared hold. It polls
 *       with growing pauses.
 * </ol>
 *
 * <p>A result of null means to start over: the path now leads to another file, or there is nothing left to promote.
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
     * Creates an entry without holders or waiters.
     *
     * @param threads runs the waits in the kernel
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
        awaitEndOfCancelledWait();
        if (name.isDetached()) {
            return null;
        }
        Owner owner = name.owner(request.key());
        Grant own = holds.of(owner);
        Optional<Key.Held> claimed = request.key().held();
        if (own != null && !name.leadsToFile()) {
            fileGone(name);
            return Holds.fileGone(claimed);
        }
        boolean isRepeatedDemotion = own != null && own.mode() == LockMode.SHARED && request.isDemotion();
        if (claimed.isPresent() && !isRepeatedDemotion) {
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
        boolean isConversion = request.mode() == LockMode.EXCLUSIVE
                ? own.mode() == LockMode.SHARED
                : request.isDemotion() && !isRepeatedDemotion;
        return isConversion ? convert(request, owner, own) : own.answer();
    }

    private Response convert(Request request, Owner owner, Grant own) throws IOException {
        try {
            return request.mode() == LockMode.EXCLUSIVE
                    ? holds.promoteNow(owner, own, request.retryIntent())
                    : holds.demote(owner, own);
        } finally {
            // Also after a failure, which may lose the hold it started with.
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

    /** A holder's file is gone. Waiters of other stores must notice that too, and nothing else wakes them. */
    private void fileGone(ResourceFile name) {
        detach(name);
        serve();
    }

    /** The name leads to another file: its holds no longer protect anything, and its waiters start over. */
    private void detach(ResourceFile name) {
        detach(name, LossReason.SESSION_LOST);
    }

    /** Ends all holds and waits of a name. */
    void detach(ResourceFile name, LossReason reason) {
        name.detach();
        holds.loseAll(name, reason);
        queue.stream().filter(waiter -> waiter.name() == name).forEach(Waiter::startOver);
        queue.removeIf(waiter -> waiter.name() == name);
        cancelKernelWaitUnlessFor(queue.peekFirst());
    }

    /**
     * Joins the queue, without being served yet; returns false for a promoter if another one waits already, here or in
     * another process.
     */
    boolean enqueue(Waiter waiter) throws IOException {
        Waiter head = queue.peekFirst();
        if (!waiter.isPromoter()) {
            queue.addLast(waiter);
        } else if ((head != null && head.isPromoter()) || !kernel.beginConversion()) {
            return false;
        } else {
            queue.addFirst(waiter);
        }
        return true;
    }

    /** Ends a wait: undoes a grant that is no longer wanted, and returns a promoter to its shared hold. */
    void leave(Waiter waiter) throws IOException {
        queue.remove(waiter);
        try {
            try {
                if (waiter.isWithdrawn() && waiter.isGranted()) {
                    undo(waiter);
                }
            } finally {
                if (waiter.isPromoter()) {
                    holds.endConversion();
                }
            }
        } finally {
            cancelKernelWaitUnlessFor(queue.peekFirst());
            awaitEndOfCancelledWait();
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

    /** If no thread can be started for that, the head of the queue polls. */
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
            // Another caller with the same key has released it: nothing is left to promote, so it waits as any other.
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

    /** Returns what this JVM knows of the holders of the file. */
    FileView look() throws IOException {
        awaitEndOfCancelledWait();
        FileRecord.Entry last = kernel.isOpen() ? kernel.look() : FileRecord.Entry.NONE;
        return new FileView(holds.all().stream().map(Grant::answer).toList(), last);
    }

    /** Returns how another process holds the file; exclusively, if this JVM waits in the kernel. */
    Optional<LockMode> modeElsewhere() throws IOException {
        awaitEndOfCancelledWait();
        if (kernelWait != null) {
            return Optional.of(LockMode.EXCLUSIVE);
        }
        return holds.isEmpty() && kernel.isOpen() ? kernel.modeElsewhere() : Optional.empty();
    }

    /** Cancels the wait in the kernel, unless the head of the queue needs it. */
    private void cancelKernelWaitUnlessFor(@Nullable Waiter head) {
        if (kernelWait != null && (head == null || head.mode() != kernelWait.mode())) {
            kernelWait.cancel();
        }
    }

    /**
     * Call it before anything that uses the channel: the thread of a cancelled wait closes the channel at any moment, without
     * the guard, and the kernel then drops every lock of this process on the file, also one acquired meanwhile. The guard is
     * released while this waits, so that the state may be another one afterwards.
     */
    private void awaitEndOfCancelledWait() {
        while (kernelWait != null && kernelWait.isCancelled()) {
            kernelWaitOver.awaitUninterruptibly();
        }
    }

    /** Called when the wait in the kernel has ended, with the lock or without. */
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
            // The kernel refused the wait as a deadlock: two processes wait for each other, though other threads of
            // theirs hold the locks.
            head.lookAgainLater();
            return;
        }
        serve();
    }
}
