package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LossReason;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A client that fails while it proves the session. Each test has its own name: a session that was cut off lives on for a while. */
class HeartbeatIT extends BehindAProxy {

    HeartbeatIT() {
        super(Stores.session(Duration.ofSeconds(6)));
    }

    /** B9: the thread that proves the session is the only one that tells of its loss. Where memory is short, a log line fails, too. */
    @Test
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    void givenABeatThrewAnError_whenTheNetworkIsSilent_thenTheHolderIsToldStill() throws Exception {
        AtomicBoolean fails = new AtomicBoolean();
        ZooKeeper client = new ZooKeeper(proxy.address().toString(), 10_000, event -> {}) {
            @Override
            public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
                if (fails.compareAndSet(true, false)) {
                    throw new OutOfMemoryError("planted") {
                        @Override
                        public String getMessage() {
                            throw new OutOfMemoryError("planted as well");
                        }
                    };
                }
                super.multi(operations, callback, context);
            }
        };
        try (ZooKeeperStore lent = ZooKeeperStore.builder(client).build()) {
            Lock lock = new LockFactory(lent).createLock("thrown", TTL);
            CompletableFuture<LossReason> told = new CompletableFuture<>();
            lock.onLost(told::complete);
            assertThat(lock.tryAcquire()).isTrue();
            fails.set(true);
            Awaitility.await().atMost(LIMIT).until(() -> !fails.get());

            proxy.silence();

            Awaitility.await().atMost(LIMIT).until(told::isDone);
            assertThat(told).isCompletedWithValue(LossReason.SESSION_LOST);
        } finally {
            proxy.heal();
            client.close();
        }
    }

    /** As above, and nothing can be logged any more. */
    @Test
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    void givenBeatsThrowAndSoDoesTheLog_whenTheNetworkIsSilent_thenTheHolderIsToldStill() throws Exception {
        AtomicBoolean fails = new AtomicBoolean();
        ZooKeeper client = new ZooKeeper(proxy.address().toString(), 10_000, event -> {}) {
            @Override
            public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
                if (fails.compareAndSet(true, false)) {
                    throw new OutOfMemoryError("planted");
                }
                super.multi(operations, callback, context);
            }
        };
        PrintStream before = System.err;
        try (ZooKeeperStore lent = ZooKeeperStore.builder(client).build()) {
            Lock lock = new LockFactory(lent).createLock("unlogged", TTL);
            CompletableFuture<LossReason> told = new CompletableFuture<>();
            lock.onLost(told::complete);
            assertThat(lock.tryAcquire()).isTrue();
            System.setErr(new PrintStream(before, true, StandardCharsets.UTF_8) {
                @Override
                public void println(String line) {
                    if (line.contains("lock.beat_failed")) {
                        throw new OutOfMemoryError("planted as well");
                    }
                    super.println(line);
                }
            });
            fails.set(true);
            Awaitility.await().atMost(LIMIT).until(() -> !fails.get());

            proxy.silence();

            Awaitility.await().atMost(LIMIT).until(told::isDone);
            assertThat(told).isCompletedWithValue(LossReason.SESSION_LOST);
        } finally {
            System.setErr(before);
            proxy.heal();
            client.close();
        }
    }

    /** The client catches what its callbacks throw, and calls none of them twice. */
    @Test
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    void givenAnAnswerToABeatWasDropped_whenTheNextAreDue_thenHeldStill() throws Exception {
        AtomicInteger beats = new AtomicInteger();
        ZooKeeper client = new ZooKeeper(server.address().toString(), 20_000, event -> {}) {
            @Override
            public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
                super.multi(
                        operations,
                        beats.incrementAndGet() == 2 ? (code, path, same, results) -> {} : callback,
                        context);
            }
        };
        try (ZooKeeperStore lent = ZooKeeperStore.builder(client).build()) {
            List<LossReason> told = new CopyOnWriteArrayList<>();
            Lock lock = new LockFactory(lent).createLock("dropped", TTL);
            lock.onLost(told::add);
            assertThat(lock.tryAcquire()).isTrue();

            Awaitility.await().atMost(LIMIT).until(() -> beats.get() >= 5 || !told.isEmpty());

            assertThat(told).isEmpty();
            assertThat(lock.isAcquired()).isTrue();
        } finally {
            client.close();
        }
    }
}
