package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A process that can start no thread. */
class FactoryThreadsTest {

    private final List<String> events = new CopyOnWriteArrayList<>();
    private final List<Thread> listening = new CopyOnWriteArrayList<>();
    private volatile boolean noThreads;

    private final FactoryContext context = new FactoryContext(new InMemoryStore(), new FactoryThreads(this::thread));

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void givenNoThreadIsToBeHad_whenAHoldIsLost_thenItsHolderIsInterruptedAndTold() throws Exception {
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        Lock lock = new LockBuilder(context, "x")
                .maxHold(Duration.ofSeconds(1))
                .interruptOnLoss()
                .onLost(told::complete)
                .create();
        assertThat(lock.tryAcquire(Duration.ofSeconds(30))).isTrue();
        noThreads = true;

        assertThatThrownBy(() -> new CountDownLatch(1).await(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isInstanceOf(InterruptedException.class);

        assertThat(told.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);
    }

    @Test
    void givenNoThreadIsToBeHad_whenThereIsOneAgain_thenTheStoreIsToldOfTheEndOfAHold() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        context.threads().getReadyToTell();
        noThreads = true;
        Future<?> end = context.threads().end(ended::countDown);
        assertThat(end.isDone()).isFalse();

        noThreads = false;

        assertThat(ended.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /** Whoever is told that it was not begun does it in another way. */
    @Test
    void givenNoThreadIsToBeHadAtAll_whenThereIsOneAgain_thenWhatWasRefusedIsNotDone() throws Exception {
        AtomicInteger done = new AtomicInteger();
        CountDownLatch later = new CountDownLatch(1);
        noThreads = true;
        assertThatThrownBy(() -> context.threads().end(done::incrementAndGet)).isInstanceOf(OutOfMemoryError.class);

        noThreads = false;

        Future<?> unused = context.threads().alarmIn(TimeUnit.MILLISECONDS.toNanos(200), later::countDown);
        assertThat(later.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        context.threads().end(later::countDown).get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(done).hasValue(0);
    }

    /** A call in progress may leave something to release when the factory is closed. */
    @Test
    void givenClosed_whenSomethingIsToBeEnded_thenItIs() throws Exception {
        FactoryThreads threads = new FactoryThreads();
        threads.close();
        CompletableFuture<Boolean> ended = new CompletableFuture<>();

        Object unused = threads.end(() -> ended.complete(true)).get(LIMIT.toSeconds(), TimeUnit.SECONDS);

        assertThat(ended).isCompletedWithValue(true);
    }

    @Test
    void givenNoThreadIsToBeHad_whenAcquiredToBeWatched_thenAnErrorAndOthersGetIt() {
        Lock lock = new LockBuilder(context, "x").autoRefresh().create();
        noThreads = true;

        assertThatThrownBy(lock::tryAcquire).isInstanceOf(OutOfMemoryError.class);

        assertThat(lock.release()).isFalse();
        assertThat(context.active().isEmpty()).isTrue();
        assertThat(rival().tryAcquire()).isTrue();
    }

    @Test
    void givenNoThreadIsToBeHad_whenALossIsFoundByItsRelease_thenTheNextReleaseEndsWhatItHasLeft() {
        AtomicBoolean lives = new AtomicBoolean(true);
        FactoryContext session =
                new FactoryContext(new InASession(new InMemoryStore(), lives::get), new FactoryThreads(this::thread));
        Lock lock = new LockBuilder(session, "x").create();
        assertThat(lock.tryAcquire()).isTrue();
        lives.set(false);
        noThreads = true;
        assertThatThrownBy(lock::release).isInstanceOf(OutOfMemoryError.class);

        noThreads = false;

        assertThat(lock.release()).isFalse();
        lives.set(true);
        assertThat(new LockBuilder(session, "x").create().tryAcquire()).isTrue();
        session.close();
    }

    @Test
    void givenNoThreadIsToBeHad_whenAcquired_thenItIsHeldAndItsListenersHearOfItLater() {
        FactoryContext heard = heard();
        Lock lock = new LockBuilder(heard, "x").create();
        noThreads = true;
        assertThat(lock.tryAcquire()).isTrue();

        noThreads = false;

        assertThat(new LockBuilder(heard, "y").create().tryAcquire()).isTrue();
        await().atMost(LIMIT).until(() -> events.contains("held y"));
        assertThat(events).containsExactly("held x", "held y");
        heard.close();
    }

    @Test
    @Tag("slow")
    void givenNoThreadIsToBeHad_whenAHoldIsLost_thenItsHolderIsToldAndTheListenersHearOfItLater() throws Exception {
        FactoryContext heard = heard();
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        Lock lock = new LockBuilder(heard, "x")
                // Not over before there are no more threads, and those that listen live for a second.
                .maxHold(Duration.ofSeconds(8))
                .onLost(told::complete)
                .create();
        assertThat(lock.tryAcquire()).isTrue();
        await().atMost(LIMIT)
                .until(() -> events.contains("held x") && listening.stream().noneMatch(Thread::isAlive));
        noThreads = true;

        assertThat(told.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.EXPIRED);

        assertThat(events).containsExactly("held x");
        noThreads = false;
        await().atMost(LIMIT).until(() -> events.contains("lost x"));
        assertThat(new LockBuilder(heard, "y").create().tryAcquire()).isTrue();
        await().atMost(LIMIT).until(() -> events.contains("held y"));
        heard.close();
    }

    private FactoryContext heard() {
        LockListener listener = new LockListener() {
            @Override
            public void held(Held event) {
                events.add("held " + event.resource());
            }

            @Override
            public void lost(Lost event) {
                events.add("lost " + event.resource());
            }
        };
        return new FactoryContext(new InMemoryStore(), new FactoryThreads(this::thread), "me", List.of(listener));
    }

    private record InASession(InMemoryStore memory, BooleanSupplier isLive) implements PersistingStore {

        @Override
        public Response save(Request request) {
            Response response = memory.save(request);
            return response instanceof Response.Granted granted ? inSession(granted) : response;
        }

        private Response.Granted inSession(Response.Granted granted) {
            Lease lease = Lease.session(new CompletableFuture<>(), isLive);
            return new Response.Granted(granted.mode(), granted.fencingToken(), lease);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return memory.find(key).map(this::inSession);
        }

        @Override
        public boolean delete(Key key) {
            return memory.delete(key);
        }
    }

    private Lock rival() {
        return new LockBuilder(context, "x").create();
    }

    /** Fails here rather than in {@link Thread#start()}, which the executors of JDK 21 and newer do not call. */
    private Thread thread(Runnable task, String name) {
        if (noThreads) {
            throw new OutOfMemoryError("unable to create native thread (planted)");
        }
        Thread thread = new Thread(task, name);
        if (name.equals("latchkey-listener")) {
            listening.add(thread);
        }
        return thread;
    }
}
