package dev.latchkey.benchmarks;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The in-memory store against the locks of the JDK, which have neither a TTL nor a fencing token nor an owner to hand over. */
@State(Scope.Thread)
public class InMemory {

    private final LockFactory locks = new LockFactory(new InMemoryStore());
    private final Lock lock = locks.createLock("benchmark");
    private final Lock reader = locks.createLock("benchmark-shared");
    private final ReentrantLock jdkLock = new ReentrantLock();
    private final ReentrantReadWriteLock jdkReadWriteLock = new ReentrantReadWriteLock();

    /** For JMH. */
    public InMemory() {}

    /**
     * One exclusive cycle.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean exclusive() {
        return lock.tryAcquire() && lock.release();
    }

    /**
     * One shared cycle.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean shared() {
        return reader.tryAcquireShared() && reader.release();
    }

    /** One cycle of {@link ReentrantLock}. */
    @Benchmark
    @SuppressWarnings("LockNotBeforeTry")
    public void jdkExclusive() {
        jdkLock.lock();
        jdkLock.unlock();
    }

    /** One cycle of the read lock of {@link ReentrantReadWriteLock}. */
    @Benchmark
    @SuppressWarnings("LockNotBeforeTry")
    public void jdkShared() {
        jdkReadWriteLock.readLock().lock();
        jdkReadWriteLock.readLock().unlock();
    }
}
