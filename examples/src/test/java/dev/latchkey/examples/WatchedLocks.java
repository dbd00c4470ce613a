package dev.latchkey.examples;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockListener;
import dev.latchkey.LockStorageException;
import dev.latchkey.micrometer.LatchkeyMetrics;
import dev.latchkey.spi.PersistingStore;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Locks with everything on that watches them: a listener, metrics and a flight recording. */
final class WatchedLocks implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(WatchedLocks.class);

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Recording recording = new Recording();
    private final LockFactory locks;

    WatchedLocks(LockFactory.Builder builder) {
        recording.start();
        this.locks = builder.owner("watched")
                .listener(new Printing())
                .listener(LatchkeyMetrics.builder(registry)
                        .group(resource -> resource)
                        .build())
                .build();
    }

    static WatchedLocks over(PersistingStore store) {
        return new WatchedLocks(LockFactory.builder(store));
    }

    LockFactory locks() {
        return locks;
    }

    String metrics() {
        return registry.scrape();
    }

    long count(String timer) {
        return registry.find(timer).timers().stream()
                .mapToLong(each -> each.count())
                .sum();
    }

    /** The metrics hear of everything after what prints it, and of the begin of a hold before the acquire has ended. */
    private boolean isAllTold(long tokens) {
        // The first acquire may have failed.
        return count("latchkey.acquire") >= Math.max(1, tokens)
                && registry.find("latchkey.held").gauges().stream().allMatch(held -> held.value() < 1);
    }

    void dump(Path file) throws IOException {
        recording.dump(file);
    }

    @Override
    public void close() {
        locks.close();
        recording.close();
    }

    /**
     * Uses locks, and shows all that is to be seen of them.
     *
     * @param args the DSN; the file of the recording; that of the tokens, which are to be seen nowhere else
     */
    public static void main(String[] args) throws Exception {
        StringBuilder tokens = new StringBuilder();
        try (WatchedLocks watched = new WatchedLocks(LockFactory.builder(args[0]))) {
            try {
                use(watched.locks(), tokens);
            } catch (LockStorageException e) {
                log.warn("failed", e);
            }
            watched.locks().close();
            long end = System.nanoTime() + 10_000_000_000L;
            while (!watched.isAllTold(tokens.toString().lines().count()) && System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            System.out.println(watched.metrics());
            watched.dump(Path.of(args[1]));
        }
        Files.writeString(Path.of(args[2]), tokens);
    }

    private static void use(LockFactory locks, StringBuilder tokens) throws InterruptedException {
        Lock lock = locks.createLock("orders").acquire();
        tokens.append(lock.key().token()).append('\n');
        System.out.println(lock + " " + lock.key() + " " + locks.holders("orders"));
        Lock other = locks.createLock("orders");
        tokens.append(other.key().token()).append('\n');
        System.out.println(other.tryAcquire());
        Lock received = locks.createLock(lock.transferKey(), Duration.ofSeconds(30));
        received.refresh();
        System.out.println(received.release());
        Lock lost = locks.createLock("orders").acquire();
        tokens.append(lost.key().token()).append('\n');
        Lock same = locks.createLock(lost.key(), Duration.ofSeconds(30));
        same.refresh();
        System.out.println(same.release());
        System.out.println(lost.isAcquired());
    }

    private static final class Printing implements LockListener {

        @Override
        public void acquiring(Acquiring event) {
            System.out.println(event);
        }

        @Override
        public void acquired(Acquired event) {
            System.out.println(event);
        }

        @Override
        public void conflicted(Conflicted event) {
            System.out.println(event);
        }

        @Override
        public void failed(Failed event) {
            System.out.println(event);
        }

        @Override
        public void held(Held event) {
            System.out.println(event);
        }

        @Override
        public void released(Released event) {
            System.out.println(event);
        }

        @Override
        public void lost(Lost event) {
            System.out.println(event);
        }

        @Override
        public void renewed(Renewed event) {
            System.out.println(event);
        }

        @Override
        public void storeCalled(StoreCalled event) {
            System.out.println(event);
        }
    }
}
