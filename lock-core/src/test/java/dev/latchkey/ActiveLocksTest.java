package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ActiveLocksTest {

    private static final int MANY = 10_000;

    private final CountDownLatch releasing = new CountDownLatch(1);
    private final CountDownLatch mayRelease = new CountDownLatch(1);
    private final FactoryContext context = new FactoryContext(new SlowToRelease(new InMemoryStore()));
    private int acquired;

    @Test
    void givenLeasesThatNobodyReleases_whenTheyAreOver_thenTheyAreForgotten() {
        // A grant that comes too late is given back.
        mayRelease.countDown();
        Lock last = acquireMany();
        await().atMost(LIMIT).until(last::isExpired);
        Lock unused = acquireMany();

        assertThat(context.active().size()).isLessThanOrEqualTo(MANY);
        context.close();
    }

    /** The JVM must not end before the release does. */
    @Test
    void givenTheLastReleaseIsUnderWay_whenTheJvmExits_thenTheFactoryIsInUse() throws Exception {
        assertThat(new LockBuilder(context, "x").create().tryAcquire()).isTrue();
        Thread closing = new Thread(context::close);
        closing.start();
        releasing.await();

        assertThat(context.isInUse()).isTrue();

        mayRelease.countDown();
        closing.join();
    }

    /** What writes the log may be stuck, and the thread that looks sets all alarms. */
    @Test
    void givenALookThatFails_whenAllAreLookedAt_thenTheCallerDoesNotWriteTheLog() {
        List<Runnable> later = new ArrayList<>();
        ActiveLocks active = new ActiveLocks();
        active.entry(new FailsToLook(), Optional.empty()).holds();

        active.lookAtAll(later::add);

        assertThat(later).hasSize(1);
        later.get(0).run();
    }

    private static final class FailsToLook implements ActiveLocks.Holder {

        @Override
        public String resource() {
            return "x";
        }

        @Override
        public boolean isHeld() {
            return true;
        }

        @Override
        public void look() {
            throw new IllegalStateException("this look fails");
        }

        @Override
        public boolean hasToEnd() {
            return false;
        }

        @Override
        public void end() {}
    }

    /** A store that keeps the name with the hold would show nobody for the rest of its min hold. */
    @Test
    void givenAMinHold_whenReleasedBefore_thenTheStoreIsToldOfTheOwnerStill() {
        mayRelease.countDown();
        SlowToRelease store = new SlowToRelease(new InMemoryStore());
        FactoryContext named = new FactoryContext(store, new FactoryThreads(), "orders", List.of());
        Lock lock = new LockBuilder(named, "x").minHold(Duration.ofSeconds(30)).create();
        assertThat(lock.tryAcquire()).isTrue();
        lock.refresh();
        assertThat(lock.release()).isTrue();

        assertThat(store.owners).hasSize(3).containsOnly("orders");
        named.close();
    }

    private Lock acquireMany() {
        Lock last = brief();
        for (int i = 0; i < MANY; i++) {
            last = brief();
            // False if this machine was busy for the whole TTL.
            boolean unused = last.tryAcquire();
        }
        return last;
    }

    private Lock brief() {
        return new LockBuilder(context, "x" + acquired++)
                .ttl(Duration.ofMillis(100))
                .withoutAutoRelease()
                .create();
    }

    private final class SlowToRelease implements ExpiringStore {

        private final InMemoryStore store;
        private final List<String> owners = new CopyOnWriteArrayList<>();

        SlowToRelease(InMemoryStore store) {
            this.store = store;
        }

        @Override
        public Response save(Request request) {
            owners.add(request.owner());
            return store.save(request);
        }

        @Override
        public Response refresh(Request request) {
            owners.add(request.owner());
            return store.refresh(request);
        }

        @Override
        public boolean delete(Key key) {
            releasing.countDown();
            try {
                mayRelease.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }
    }
}
