package dev.latchkey;

import static dev.latchkey.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.leader.LeaderElection;
import dev.latchkey.store.InMemoryStore;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a thread has that outlives the call that started it: nothing of the user for whom that call was made. */
class InheritedValuesTest {

    private static final InheritableThreadLocal<String> USER = new InheritableThreadLocal<>();

    private final LockFactory locks = new LockFactory(new InMemoryStore());

    @AfterEach
    void close() {
        USER.remove();
        locks.close();
    }

    @Test
    void givenAcquiredForAUser_whenLost_thenTheListenerIsNotRunForThatUser() throws Exception {
        CompletableFuture<Optional<String>> heard = new CompletableFuture<>();
        Lock lock = locks.lock("x")
                .autoRefresh()
                .onLost(reason -> heard.complete(Optional.ofNullable(USER.get())))
                .create();
        USER.set("alice");
        assertThat(lock.tryAcquire()).isTrue();

        assertThat(locks.forceRelease("x", lock.fencingToken().orElseThrow())).isTrue();

        assertThat(heard.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEmpty();
    }

    /** Callbacks look for classes of the application by it. */
    @Test
    void givenAcquiredUnderAnotherClassLoader_whenLost_thenTheListenerHasThatOfWhoeverMadeTheFactory()
            throws Exception {
        CompletableFuture<ClassLoader> heard = new CompletableFuture<>();
        Lock lock = locks.lock("x")
                .autoRefresh()
                .onLost(reason -> heard.complete(Thread.currentThread().getContextClassLoader()))
                .create();
        ClassLoader own = Objects.requireNonNull(Thread.currentThread().getContextClassLoader());
        try (URLClassLoader other = new URLClassLoader(new URL[0], own)) {
            Thread.currentThread().setContextClassLoader(other);
            assertThat(lock.tryAcquire()).isTrue();
        } finally {
            Thread.currentThread().setContextClassLoader(own);
        }

        assertThat(locks.forceRelease("x", lock.fencingToken().orElseThrow())).isTrue();

        assertThat(heard.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isSameAs(own);
    }

    @Test
    void givenAnElectionThatAUserHasStarted_whenElected_thenItDoesNotLeadForThatUser() throws Exception {
        CompletableFuture<Optional<String>> led = new CompletableFuture<>();
        USER.set("alice");

        try (LeaderElection election = LeaderElection.builder(locks, "x")
                .onElected(term -> led.complete(Optional.ofNullable(USER.get())))
                .start()) {
            assertThat(led.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEmpty();
            boolean unused = election.resign();
        }
    }
}
