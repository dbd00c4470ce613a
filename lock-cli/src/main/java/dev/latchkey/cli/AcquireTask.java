package dev.latchkey.cli;

import dev.latchkey.Capability;
import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.UnserializableKeyException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * Opens the store and acquires a lock on a separate thread. The main thread stays free for signals, which end the wait at once,
 * whatever the store is doing.
 */
final class AcquireTask {

    /** How long a store may take to withdraw. After that the command ends, and a late grant ends with the process or its TTL. */
    private static final Duration WITHDRAWAL = Duration.ofSeconds(1);

    private final LockTarget want;
    private final Duration stopTime;
    private final Inbox inbox;

    private AcquireTask(LockTarget want, Duration stopTime, Inbox inbox) {
        this.want = want;
        this.stopTime = stopTime;
        this.inbox = inbox;
    }

    /** Waits for the lock, the end of the max wait, or a signal. */
    static AcquireAnswer acquire(LockTarget want, Inbox inbox) throws InterruptedException {
        return acquire(want, Duration.ZERO, inbox);
    }

    /** As above; the end of a lease that is not renewed is announced the stop time before, unless that is zero. */
    static AcquireAnswer acquire(LockTarget want, Duration stopTime, Inbox inbox) throws InterruptedException {
        AcquireTask acquiring = new AcquireTask(want, stopTime, inbox);
        Thread asking = Threads.startDaemon("lock-acquire", () -> inbox.add(new Event.Answered(acquiring.ask())));
        Deque<Event> early = new ArrayDeque<>();
        while (true) {
            Event event = inbox.next();
            if (event instanceof Event.Answered answered) {
                early.forEach(inbox::add);
                return answered.answer();
            }
            if (event instanceof Event.Signalled signalled) {
                asking.interrupt();
                return acquiring.withdrawn(signalled.signal());
            }
            if (event instanceof Event.Lost || event instanceof Event.LeaseEnding) {
                // The lock was granted and lost at once, and this came first: left for the caller, of which the last is
                // added first.
                early.push(event);
            }
        }
    }

    private AcquireAnswer withdrawn(UnixSignal signal) throws InterruptedException {
        long end = System.nanoTime() + WITHDRAWAL.toNanos();
        while (true) {
            Optional<Event> event = inbox.next(Duration.ofNanos(end - System.nanoTime()));
            if (event.isEmpty()) {
                // The thread hangs in the driver. exit() would wait for it; the operating system does not.
                Runtime.getRuntime().halt(signal.exitCode());
            }
            if (event.orElse(null) instanceof Event.Answered answered) {
                if (answered.answer() instanceof AcquireAnswer.Acquired acquired) {
                    acquired.undo();
                }
                return new AcquireAnswer.Aborted(signal);
            }
        }
    }

    private AcquireAnswer ask() {
        try {
            LockFactory locks = LockFactory.connect(want.dsn());
            AcquireAnswer answer = ask(locks);
            if (!(answer instanceof AcquireAnswer.Acquired)) {
                locks.close();
            }
            return answer;
        } catch (RuntimeException e) {
            return new AcquireAnswer.Failed(e);
        } catch (Error e) {
            // Thrown, it would only end this thread, and there would never be an answer.
            return new AcquireAnswer.Failed(new IllegalStateException(e));
        }
    }

    private AcquireAnswer ask(LockFactory locks) {
        long start = System.nanoTime();
        try {
            Lock lock = create(locks);
            return take(lock)
                    ? new AcquireAnswer.Acquired(locks, lock, Duration.ofNanos(System.nanoTime() - start))
                    : new AcquireAnswer.Conflicted(HolderReport.describe(locks, want));
        } catch (InterruptedException e) {
            // Only a signal interrupts this thread, and its receiver knows which one.
            return new AcquireAnswer.Aborted(UnixSignal.TERM);
        } catch (RuntimeException e) {
            return new AcquireAnswer.Failed(e);
        }
    }

    private Lock create(LockFactory locks) {
        LockBuilder builder = builder(locks).ttl(want.ttl());
        if (want.keeping() == LockTarget.Keeping.REFRESHED) {
            builder.autoRefresh();
        }
        if (!stopTime.isZero()) {
            builder.warnBefore(stopTime, left -> inbox.add(Event.LeaseEnding.in(left)));
        }
        if (want.keeping() != LockTarget.Keeping.HANDED_OVER) {
            builder.onLost(reason -> inbox.add(new Event.Lost(reason)));
            return builder.create();
        }
        Lock lock = builder.create();
        requireTravelling(lock);
        return lock;
    }

    private LockBuilder builder(LockFactory locks) {
        if (want.permits() == 0) {
            return locks.lock(want.resource());
        }
        if (!locks.supports(Capability.SEMAPHORES)) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "this store cannot count permits: --permits needs Redis, an SQL database, or another store with"
                            + " semaphores",
                    null);
        }
        return locks.permits(want.resource(), want.permits(), 1);
    }

    /** Checks this before anything is held. */
    private static void requireTravelling(Lock lock) {
        String unused = lock.key().serialize();
    }

    /** Returns whether the key of this lock can be transferred to another process. */
    static boolean travels(Lock lock) {
        try {
            requireTravelling(lock);
            return true;
        } catch (UnserializableKeyException e) {
            return false;
        }
    }

    private boolean take(Lock lock) throws InterruptedException {
        if (want.maxWait().isZero()) {
            return want.mode() == LockMode.SHARED ? lock.tryAcquireShared() : lock.tryAcquire();
        }
        return want.mode() == LockMode.SHARED ? lock.tryAcquireShared(want.maxWait()) : lock.tryAcquire(want.maxWait());
    }
}
