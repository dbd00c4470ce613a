package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** A holder that is going to lose its lock though it renews it, and the rival that comes after it, each with a store of its own. */
final class Succession implements AutoCloseable {

    /** What is done to servers, and what comes of it. */
    @FunctionalInterface
    interface Strike {

        void against(List<? extends OwnServer> servers, Succession succession) throws Exception;
    }

    private static final Duration LIMIT = TimeLimits.LIMIT;

    /** What a failing server may still grant it when nobody waits for the answer ends soon enough for the next try. */
    private static final Duration RIVALS_TTL = Duration.ofSeconds(10);

    private final LockFactory holders;
    private final LockFactory rivals;
    private final Queue<LossReason> losses = new ConcurrentLinkedQueue<>();
    private final Lock holder;
    private final Lock rival;

    Succession(String holdersDsn, String rivalsDsn, String resource, Duration ttl) {
        this.holders = LockFactory.connect(holdersDsn);
        this.rivals = LockFactory.connect(rivalsDsn);
        this.holder = holders.lock(resource)
                .ttl(ttl)
                .autoRefresh()
                .onLost(losses::add)
                .create();
        this.rival = rivals.lock(resource).ttl(RIVALS_TTL).autoRefresh().create();
    }

    /** Has both connect, and the holder hold. */
    void begin() throws InterruptedException {
        assertThat(rival.tryAcquire(LIMIT)).isTrue();
        assertThat(rival.release()).isTrue();
        assertThat(holder.tryAcquire(LIMIT)).isTrue();
    }

    Lock holder() {
        return holder;
    }

    /** Waits until the holder knows that its hold is over. */
    void awaitThatTheHolderKnows() {
        await("the holder to know").until(holder::isExpired);
    }

    /**
     * Has the rival wait for the lock, however often the store fails.
     *
     * @return whether the holder knew at the moment when the rival held
     */
    boolean takeOver() {
        AtomicBoolean knew = new AtomicBoolean();
        await("the rival to hold").ignoreException(LockStorageException.class).until(() -> {
            boolean acquired = rival.tryAcquire(Duration.ofSeconds(10));
            knew.set(holder.isExpired());
            return acquired;
        });
        return knew.get();
    }

    /**
     * Has the holder try to release what it no longer has, and ends its store, so that nobody can tell it anything more.
     *
     * @return all that it was told
     */
    List<LossReason> losses() {
        await("the holder to release nothing")
                .ignoreException(LockStorageException.class)
                .until(() -> !holder.release());
        await("the holder to be told").until(() -> !losses.isEmpty());
        assertThat(rival.isAcquired()).as("the rival still holds").isTrue();
        holders.close();
        assertThat(rival.release()).isTrue();
        return List.copyOf(losses);
    }

    private static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(LIMIT).pollInterval(Duration.ofMillis(20));
    }

    @Override
    public void close() {
        holders.close();
        rivals.close();
    }
}
