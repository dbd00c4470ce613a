package dev.latchkey.fuzz;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Date;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What Latchkey gets in place of types of the JDK: the methods it uses, with the descriptors of the originals. See {@link
 * Simulation}. Public, for its classes are in other packages.
 */
// The names of what is replaced are meant; whoever waits here loops.
@SuppressWarnings({"JavaLangClash", "WaitNotInLoop"})
public final class Simulated {

    private Simulated() {}

    /** In place of {@link System}. */
    public static final class Clock {
        private Clock() {}

        public static long nanoTime() {
            return World.current().now();
        }
    }

    /** In place of {@link java.lang.Thread}: who is running, and whether it was interrupted. */
    public static final class Thread {
        private final String name;
        private @Nullable Fiber fiber;

        public Thread(@Nullable Runnable task, String name) {
            this.name = name;
        }

        public Thread(@Nullable ThreadGroup group, Runnable task, String name, long stackSize, boolean inherits) {
            this(task, name);
        }

        Thread(Fiber fiber) {
            this(null, "fiber");
            this.fiber = fiber;
        }

        public static Thread currentThread() {
            return World.current().thread();
        }

        public static boolean interrupted() {
            return World.current().running().clearInterrupt();
        }

        public void interrupt() {
            if (fiber != null) {
                fiber.interrupt();
            }
        }

        /** Time passes meanwhile. */
        public static void onSpinWait() {
            World.current().spin();
        }

        public void setDaemon(boolean on) {}

        public @Nullable ClassLoader getContextClassLoader() {
            return null;
        }

        public void setContextClassLoader(@Nullable ClassLoader loader) {}

        public String getName() {
            return name;
        }
    }

    /** In place of {@link java.util.concurrent.ThreadFactory}. */
    public interface Threads {
        Thread newThread(Runnable task);
    }

    /** In place of {@link java.util.concurrent.locks.ReentrantLock}; fair, and handed over to who waits. */
    public static final class Lock {
        private final Deque<Fiber> queue = new ArrayDeque<>(2);
        private @Nullable Fiber owner;
        private int count;

        public Lock() {}

        public Lock(boolean fair) {}

        public void lock() {
            Fiber me = World.current().running();
            if (owner == null || owner == me) {
                owner = me;
                count++;
                return;
            }
            queue.addLast(me);
            me.block();
            World.current().pause();
            // Handed over by unlock().
        }

        public void lockInterruptibly() throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            lock();
        }

        public boolean tryLock() {
            Fiber me = World.current().running();
            if (owner != null && owner != me) {
                return false;
            }
            owner = me;
            count++;
            return true;
        }

        public void unlock() {
            if (owner != World.current().running()) {
                throw new IllegalMonitorStateException();
            }
            if (--count == 0) {
                handOff(1);
                World.current().leftGuard();
            }
        }

        private void handOff(int holds) {
            owner = queue.pollFirst();
            if (owner != null) {
                count = holds;
                owner.unblock();
            }
        }

        public int getHoldCount() {
            return owner == World.current().running() ? count : 0;
        }

        public boolean isHeldByCurrentThread() {
            return owner == World.current().running();
        }

        public Condition newCondition() {
            return new Signal(this);
        }
    }

    /** A condition of a {@link Lock}. */
    private static final class Signal implements Condition {
        private final Lock lock;
        private final Deque<Fiber> waiting = new ArrayDeque<>(2);

        Signal(Lock lock) {
            this.lock = lock;
        }

        @Override
        public void await() throws InterruptedException {
            long unused = awaitNanos(Long.MAX_VALUE);
        }

        @Override
        public long awaitNanos(long nanos) throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            World world = World.current();
            long end = nanos > Long.MAX_VALUE / 4 ? Long.MAX_VALUE : world.now() + nanos;
            park(end, true);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            return end - world.now();
        }

        private void park(long end, boolean interruptible) {
            World world = World.current();
            Fiber me = world.running();
            int holds = lock.count;
            waiting.addLast(me);
            lock.count = 0;
            lock.handOff(1);
            me.await(end, interruptible);
            world.pause();
            waiting.remove(me);
            lock.lock();
            lock.count = holds;
        }

        @Override
        public boolean await(long time, TimeUnit unit) throws InterruptedException {
            return awaitNanos(unit.toNanos(time)) > 0;
        }

        @Override
        public void awaitUninterruptibly() {
            park(Long.MAX_VALUE, false);
        }

        @Override
        public boolean awaitUntil(Date deadline) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void signal() {
            Fiber first = waiting.pollFirst();
            if (first != null) {
                first.wake();
            }
        }

        @Override
        public void signalAll() {
            waiting.forEach(Fiber::wake);
            waiting.clear();
        }
    }

    /** In place of the policy of {@link java.util.concurrent.ThreadPoolExecutor} that drops what comes too late. */
    public static final class Discarding {
        public Discarding() {}
    }

    /** In place of {@link java.util.concurrent.ThreadPoolExecutor}: its threads are fibers if they may ask the store. */
    public static class Pool implements Executor {
        private final World world = World.current();
        private final List<Fiber> fibers = new ArrayList<>();
        private boolean shut;

        public Pool(
                int core,
                int most,
                long keepAlive,
                TimeUnit unit,
                BlockingQueue<Runnable> queue,
                Threads threads,
                Discarding policy) {
            this(threads, core);
        }

        Pool(Threads threads, int atOnce) {
            String name = threads.newThread(() -> {}).getName();
            boolean asksStore = name.endsWith("renewer") || name.endsWith("ender") || name.endsWith("tidier");
            for (int i = 0; i < atOnce && asksStore; i++) {
                fibers.add(world.addDaemon(name));
            }
        }

        @Override
        public void execute(Runnable task) {
            if (shut) {
                return;
            }
            if (fibers.isEmpty()) {
                world.soon(task);
            } else {
                fibers.stream()
                        .min(Comparator.comparingInt(Fiber::load))
                        .orElseThrow()
                        .add(task);
            }
        }

        public void allowCoreThreadTimeOut(boolean on) {}

        public boolean prestartCoreThread() {
            return false;
        }

        public boolean remove(Runnable task) {
            return false;
        }

        public void shutdown() {
            shut = true;
        }

        public List<Runnable> shutdownNow() {
            shut = true;
            fibers.forEach(Fiber::dropTasks);
            return List.of();
        }

        World world() {
            return world;
        }
    }

    /** In place of {@link java.util.concurrent.ScheduledThreadPoolExecutor}. */
    public static class Scheduler extends Pool {
        private final List<Timer> timers = new ArrayList<>();

        public Scheduler(int threads, Threads factory, Discarding policy) {
            super(factory, threads);
        }

        public void setRemoveOnCancelPolicy(boolean on) {}

        public void setKeepAliveTime(long time, TimeUnit unit) {}

        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            Timer timer = new Timer(world(), world().now() + Math.max(0, unit.toNanos(delay)), () -> execute(task));
            world().add(timer);
            timers.add(timer);
            return timer;
        }

        @Override
        public List<Runnable> shutdownNow() {
            timers.forEach(timer -> timer.cancel(false));
            return super.shutdownNow();
        }
    }

    /** In place of {@link java.util.concurrent.ConcurrentHashMap}: in the order of insertion, not of identity hash codes. */
    public static final class OrderedMap<K, V> extends LinkedHashMap<K, V> implements ConcurrentMap<K, V> {
        private static final long serialVersionUID = 1L;

        public OrderedMap() {}

        public static <T> OrderedSet<T> newKeySet() {
            return new OrderedSet<>();
        }

        @Override
        public Set<K> keySet() {
            return new LinkedHashSet<>(super.keySet());
        }

        @Override
        public Collection<V> values() {
            return new ArrayList<>(super.values());
        }
    }

    /** In place of what {@link java.util.concurrent.ConcurrentHashMap#newKeySet()} returns. */
    public static final class OrderedSet<T> extends LinkedHashSet<T> {
        private static final long serialVersionUID = 1L;
    }

    /** In place of what copies sets: in the order given, not in one that differs from JVM to JVM. */
    public interface Sets {
        static <T> Set<T> copyOf(Collection<? extends T> elements) {
            return Collections.unmodifiableSet(new LinkedHashSet<>(List.copyOf(elements)));
        }
    }

    /** In place of {@link java.util.concurrent.CountDownLatch}. */
    public static final class Latch {
        private final Deque<Fiber> waiting = new ArrayDeque<>(1);
        private long count;

        public Latch(int count) {
            this.count = count;
        }

        public void countDown() {
            if (count > 0 && --count == 0) {
                waiting.forEach(Fiber::wake);
            }
        }

        public boolean await(long time, TimeUnit unit) throws InterruptedException {
            World world = World.current();
            Fiber me = world.running();
            long end = world.now() + unit.toNanos(time);
            waiting.addLast(me);
            try {
                while (count > 0 && world.now() < end) {
                    if (Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                    me.await(end, true);
                    world.pause();
                }
            } finally {
                waiting.remove(me);
            }
            return count == 0;
        }
    }

    /** In place of what waits for a {@link CompletableFuture}. */
    public static final class Futures {
        private Futures() {}

        public static @Nullable Object join(CompletableFuture<?> future) {
            World world = World.current();
            Fiber me = world.running();
            var unused = future.whenComplete((result, failure) -> me.wake());
            while (!future.isDone()) {
                me.await(Long.MAX_VALUE, false);
                world.pause();
            }
            return future.join();
        }
    }

    /** In place of {@link java.security.SecureRandom} and {@link java.util.concurrent.ThreadLocalRandom}. */
    public static final class Dice {
        public Dice() {}

        public static Dice current() {
            return new Dice();
        }

        public long nextLong(long from, long to) {
            return from + World.current().draw(to - from);
        }

        public void nextBytes(byte[] bytes) {
            World.current().fill(bytes);
        }
    }

    /** In place of {@link Runtime}. */
    public static final class NoRuntime {
        private NoRuntime() {}

        public static NoRuntime getRuntime() {
            return new NoRuntime();
        }

        public void addShutdownHook(Thread hook) {}

        public boolean removeShutdownHook(Thread hook) {
            return true;
        }
    }

    /** In place of {@link java.lang.ref.Cleaner}. */
    public static final class NoCleaner {
        private NoCleaner() {}

        public static NoCleaner create() {
            return new NoCleaner();
        }

        public java.lang.ref.Cleaner.@Nullable Cleanable register(Object object, Runnable action) {
            return null;
        }
    }

    /** In place of {@link StackWalker}. */
    public static final class NoStack {
        private NoStack() {}

        public static NoStack getInstance() {
            return new NoStack();
        }

        public @Nullable Object walk(Function<? super Stream<Object>, ?> walk) {
            return walk.apply(Stream.empty());
        }
    }

    /** In place of {@link org.slf4j.LoggerFactory}. */
    public static final class NoLogs {
        private static final NoLog NONE = new NoLog() {};

        private NoLogs() {}

        public static NoLog getLogger(Class<?> type) {
            return NONE;
        }

        public static NoLog getLogger(String name) {
            return NONE;
        }
    }

    /** In place of {@link org.slf4j.Logger}. */
    public interface NoLog {
        default boolean isDebugEnabled() {
            return false;
        }

        default void debug(String format, Object one) {}

        default void debug(String message, Throwable cause) {}

        default void debug(String format, Object one, Object other) {}

        default void debug(String format, Object... all) {}

        default void warn(String format, Object one) {}

        default void warn(String format, Object one, Object other) {}

        default void warn(String format, Object... all) {}

        default void error(String format, Object one) {}

        default void error(String format, Object one, Object other) {}
    }

    /** Something that is to happen at a moment. */
    static final class Timer implements ScheduledFuture<Object> {
        private final World world;
        private final long at;
        private final Runnable task;
        private boolean over;

        Timer(World world, long at, Runnable task) {
            this.world = world;
            this.at = at;
            this.task = task;
        }

        long at() {
            return at;
        }

        boolean isOver() {
            return over;
        }

        void run() {
            over = true;
            task.run();
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            boolean was = over;
            over = true;
            world.cancelled(this);
            return !was;
        }

        @Override
        public boolean isCancelled() {
            return over;
        }

        @Override
        public boolean isDone() {
            return over;
        }

        @Override
        public Object get() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Object get(long timeout, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(at - world.now(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }
}
