package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.Optional;
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

        SlowToRelease(InMemoryStore store) {
            this.store = store;
        }

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public Response refresh(Request request) {
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
