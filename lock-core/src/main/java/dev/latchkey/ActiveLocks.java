package dev.latchkey;

import java.lang.ref.Cleaner;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Everything that waits or holds, so that the factory's close() finds it. Thread-safe. */
final class ActiveLocks {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.LockFactory");
    private static final int SWEEP_FROM = 1_024;

    private final ConcurrentMap<Entry, Entry> all = new ConcurrentHashMap<>();
    private final AtomicInteger sweepAt = new AtomicInteger(SWEEP_FROM);

    /** What a Lock does with what it holds. */
    interface Holder {

        String resource();

        boolean isHeld();

        /** Notices if what was held is over. */
        void look();

        /** Whether the store keeps something of it that does not end by itself. */
        boolean hasToEnd();

        /** The factory is closed. */
        void end();
    }

    Entry entry(Holder holder, Optional<LeakDetector> leakDetector) {
        return new Entry(holder, leakDetector);
    }

    /** One Lock: known here while it waits or holds, and to its leak detector while it holds. */
    final class Entry {

        private final Holder holder;
        private final Optional<LeakDetector> leakDetector;
        private volatile boolean waiting;

        private Entry(Holder holder, Optional<LeakDetector> leakDetector) {
            this.holder = holder;
            this.leakDetector = leakDetector;
        }

        void waits() {
            waiting = true;
            add(this);
        }

        void waitEnds() {
            waiting = false;
            mayBeIdle();
        }

        void holds() {
            if (!waiting) {
                add(this);
            }
            leakDetector.ifPresent(detector -> detector.begins(holder));
            if (!holder.isHeld()) {
                // Let go of by another thread before it was added here, which would not come again to take it out.
                mayBeIdle();
            }
        }

        /** Whether close() finds it. */
        boolean isKnown() {
            return all.containsKey(this);
        }

        /** What was held is let go of, in the turn: nobody waits. */
        void holdsNothing() {
            all.remove(this);
            leakDetector.ifPresent(LeakDetector::mayHaveEnded);
        }

        /** A hold, or a wait, has ended. */
        void mayBeIdle() {
            removeIfIdle(this);
            leakDetector.ifPresent(LeakDetector::mayHaveEnded);
        }

        /** What is held is left to itself. */
        void leaves() {
            all.remove(this);
            leakDetector.ifPresent(LeakDetector::ends);
        }

        private boolean isIdle() {
            return !waiting && !holder.isHeld() && !holder.hasToEnd();
        }
    }

    private void add(Entry one) {
        // Not putIfAbsent, which may find what removeIfIdle is about to remove.
        if (all.put(one, one) == null) {
            sweepIfGrown();
        }
    }

    /** Removes one whose hold has ended, unless it waits, or holds something again. */
    private void removeIfIdle(Entry one) {
        if (one.isIdle()) {
            all.computeIfPresent(one, (same, present) -> same.isIdle() ? null : present);
        }
    }

    /** @param notifier where failures are logged: what writes the log may be stuck, and the caller has to look again in time */
    void lookAtAll(Executor notifier) {
        all.keySet().forEach(one -> look(one.holder, notifier));
    }

    private static void look(Holder one, Executor notifier) {
        try {
            one.look();
        } catch (Throwable e) {
            notifier.execute(() -> log.error("lock.look_failed resource={}", LockException.shown(one.resource()), e));
        }
    }

    void endAll() {
        all.keySet().forEach(one -> end(one.holder));
    }

    /** Whatever is wrong with one hold, or with the store, the others are ended all the same. */
    private static void end(Holder one) {
        try {
            one.end();
        } catch (Throwable e) {
            log.error("lock.close_failed resource={}", LockException.shown(one.resource()), e);
        }
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    int size() {
        return all.size();
    }

    /** Leases that run out without a release must not fill the memory: each time these have doubled, they go. */
    private void sweepIfGrown() {
        int limit = sweepAt.get();
        if (all.size() >= limit && sweepAt.compareAndSet(limit, Integer.MAX_VALUE)) {
            all.keySet().forEach(this::removeIfIdle);
            sweepAt.set(Math.max(SWEEP_FROM, 2 * all.size()));
        }
    }

    /**
     * Notices that a Lock was garbage-collected while it held something that does not end by itself: a hold that the factory
     * renews, or one without a lease. It is told, and nothing else: the work may still go on. One thread for all factories of
     * the JVM, which does no I/O.
     *
     * <p>What is held leads to the listeners of the user, and may so lead to the Lock: it is known here only while it is held.
     */
    static final class LeakDetector implements Runnable {

        private static final Logger leakLog = LoggerFactory.getLogger("dev.latchkey.Lock");

        private static final Set<String> OURS = Set.of(
                LeakDetector.class.getName(),
                "dev.latchkey.Lock",
                "dev.latchkey.LockFactory",
                "dev.latchkey.LockBuilder");

        /** What is held by Locks that are gone: neither it nor its factory may be collected before it ends. */
        private static final Set<Holder> LEFT = ConcurrentHashMap.newKeySet();

        /**
         * Its thread is one of the JDK: one that is made here keeps our class loader, which keeps the cleaner, without which its
         * thread would end.
         */
        private static final Cleaner CLEANER = Cleaner.create();

        private final StackWalker.@Nullable StackFrame creation = caller();
        private @Nullable Holder held;

        private LeakDetector() {}

        static LeakDetector watch(Object lock) {
            LeakDetector leakDetector = new LeakDetector();
            CLEANER.register(lock, leakDetector);
            return leakDetector;
        }

        private synchronized void begins(Holder holder) {
            held = holder;
        }

        /** Forgets what is not held any more. */
        private synchronized void mayHaveEnded() {
            if (held != null && !held.isHeld()) {
                ends();
            }
        }

        /** What is held stays in the store, as its holder wants it. */
        private synchronized void ends() {
            Holder ended = held;
            held = null;
            if (ended != null) {
                LEFT.remove(ended);
            }
        }

        /** The Lock is gone. */
        @Override
        public void run() {
            Holder left = leave();
            if (left != null) {
                leakLog.warn(
                        "lock.abandoned resource={} kept: the Lock made at {} was garbage-collected while held; release it or close it",
                        LockException.shown(left.resource()),
                        creation);
            }
        }

        private synchronized @Nullable Holder leave() {
            Holder left = held;
            if (left == null || !left.isHeld()) {
                return null;
            }
            LEFT.add(left);
            return left;
        }

        private static StackWalker.@Nullable StackFrame caller() {
            return StackWalker.getInstance()
                    .walk(frames -> frames.filter(frame -> !OURS.contains(frame.getClassName()))
                            .findFirst()
                            .orElse(null));
        }
    }
}
