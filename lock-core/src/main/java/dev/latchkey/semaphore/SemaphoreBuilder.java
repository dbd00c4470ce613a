package dev.latchkey.semaphore;

import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LossReason;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.Permits;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Creates a {@link Semaphore} with options, which hold for each of its permits. Not thread-safe; the Semaphore is. */
public final class SemaphoreBuilder {

    private final Function<String, LockBuilder> locks;
    private final PermitStore store;
    private final String name;
    private final int permits;
    private UnaryOperator<LockBuilder> options = UnaryOperator.identity();

    /**
     * For {@link dev.latchkey.LockFactory#semaphore}, which everybody else calls.
     *
     * @param locks returns a builder of locks over the store of permits, for the resource of some permits
     * @param store the store of permits
     * @param name the name of the semaphore
     * @param permits how many permits it has
     * @throws IllegalArgumentException if {@code permits} is less than 1
     */
    public SemaphoreBuilder(Function<String, LockBuilder> locks, PermitStore store, String name, int permits) {
        this.locks = locks;
        this.store = store;
        this.name = Objects.requireNonNull(name, "name");
        this.permits = new Permits(name, 1, permits).limit();
    }

    /**
     * Sets the time after which the store takes back permits that are not refreshed. The default is 300 s.
     *
     * @param newTtl from 3 ms to 100 years, within the limits of the store
     * @return this
     * @throws IllegalArgumentException if {@code newTtl} is out of range
     */
    public SemaphoreBuilder ttl(Duration newTtl) {
        return with(lock -> lock.ttl(newTtl));
    }

    /**
     * Makes the factory refresh permits after each third of their TTL, until they are released or lost.
     *
     * @return this
     */
    public SemaphoreBuilder autoRefresh() {
        return with(LockBuilder::autoRefresh);
    }

    /**
     * Leaves permits in the store when the factory is closed or the JVM exits: they are taken back when their TTL is over. By
     * default they are released.
     *
     * @return this
     */
    public SemaphoreBuilder withoutAutoRelease() {
        return with(LockBuilder::withoutAutoRelease);
    }

    /**
     * Adds a listener that is called once for each {@link Permit} that ends without a release. It is called on a thread of the
     * factory.
     *
     * @param listener receives the reason. It must return soon, because all listeners of the factory share one thread
     * @return this
     */
    public SemaphoreBuilder onLost(Consumer<? super LossReason> listener) {
        Objects.requireNonNull(listener, "listener");
        return with(lock -> lock.onLost(listener));
    }

    /**
     * Makes the factory interrupt the thread that acquired permits when they are lost, as {@link LockBuilder#interruptOnLoss()}
     * says.
     *
     * @return this
     */
    public SemaphoreBuilder interruptOnLoss() {
        return with(LockBuilder::interruptOnLoss);
    }

    /**
     * Sets a maximum hold time: permits end this long after they were acquired, however often they are refreshed, and are lost
     * with {@link LossReason#EXPIRED}.
     *
     * @param atMost the time from the grant
     * @return this
     * @throws IllegalArgumentException if {@code atMost} is out of range, which is that of {@link #ttl}
     */
    public SemaphoreBuilder maxHold(Duration atMost) {
        return with(lock -> lock.maxHold(atMost));
    }

    private SemaphoreBuilder with(UnaryOperator<LockBuilder> option) {
        UnaryOperator<LockBuilder> before = options;
        options = lock -> option.apply(before.apply(lock));
        LockBuilder unused = options.apply(locks.apply(new Permits(name, 1, permits).resource()));
        return this;
    }

    /**
     * Creates the semaphore.
     *
     * @return a semaphore of which nothing is held through this object yet
     * @throws IllegalArgumentException if the name is too long or not valid Unicode
     */
    public Semaphore create() {
        UnaryOperator<LockBuilder> chosen = options;
        Function<String, Lock> created =
                resource -> chosen.apply(locks.apply(resource)).create();
        Lock unused = created.apply(new Permits(name, permits, permits).resource());
        return new Semaphore(created, store, name, permits);
    }
}
