package dev.latchkey.leader;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stands for election, leads when elected, and stands again after a pause: on one thread, until it is closed. */
final class Candidate implements Runnable {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.LeaderElection");

    private final LockFactory locks;
    private final ElectionSettings settings;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private volatile @Nullable Term term;

    /** The thread that waits for the lock: one that does anything else with the store must not be interrupted. */
    private @Nullable Thread standing;

    /** In a row: of the store, and of the callback. */
    private int standingFailures;

    private int callbackFailures;

    Candidate(LockFactory locks, ElectionSettings settings) {
        this.locks = locks;
        this.settings = settings;
    }

    Optional<Term> term() {
        return Optional.ofNullable(term).filter(Term::lasts);
    }

    @Override
    public void run() {
        while (!closed.isDone()) {
            await(closed, standAndLead());
        }
    }

    /** Returns how long to pause after that. */
    private Duration standAndLead() {
        try {
            TermEnd end = lead(stand());
            standingFailures = 0;
            callbackFailures = end == TermEnd.FAILED ? callbackFailures + 1 : 0;
            return settings.backoff().after(callbackFailures);
        } catch (InterruptedException e) {
            endInterrupted();
            return Duration.ZERO;
        } catch (Throwable e) {
            return afterFailure(e);
        }
    }

    private Lock stand() throws InterruptedException {
        Lock lock =
                locks.lock(settings.name()).ttl(settings.ttl()).autoRefresh().create();
        standBegins();
        try {
            return lock.acquire();
        } finally {
            standEnds();
        }
    }

    private synchronized void standBegins() throws InterruptedException {
        if (closed.isDone()) {
            throw new InterruptedException();
        }
        standing = Thread.currentThread();
    }

    /** An interrupt that came too late for the wait must not meet the release. */
    private synchronized void standEnds() {
        standing = null;
        if (closed.isDone()) {
            boolean unused = Thread.interrupted();
        }
    }

    private TermEnd lead(Lock held) {
        Term elected = new Term(held, settings.stopTime());
        term = elected;
        if (closed.isDone()) {
            // close() may have come too early to find the term.
            elected.end(TermEnd.CLOSED);
        }
        CompletableFuture<Void> returned;
        try {
            returned = new TermRun(settings, elected).run();
        } finally {
            term = null;
        }
        while (!returned.isDone() && !closed.isDone()) {
            await(CompletableFuture.anyOf(returned, closed), Duration.ofDays(1));
        }
        return elected.end().join();
    }

    private Duration afterFailure(Throwable failure) {
        if (locks.isClosed()) {
            close();
            return Duration.ZERO;
        }
        standingFailures++;
        Duration pause = settings.backoff().after(standingFailures);
        try {
            logFailure(failure, pause);
        } catch (Throwable e) {
            // What cannot be logged is no reason to stand no more.
        }
        return pause;
    }

    private void logFailure(Throwable failure, Duration pause) {
        if (standingFailures == 1) {
            log.warn("leader.standing_failed election={} pauseMs={}", settings.shownName(), pause.toMillis(), failure);
        } else {
            log.debug(
                    "leader.standing_failed election={} failures={} pauseMs={}",
                    settings.shownName(),
                    standingFailures,
                    pause.toMillis(),
                    failure);
        }
    }

    /** By close(), or by whoever ends the threads of this JVM. */
    private void endInterrupted() {
        if (!closed.isDone()) {
            log.warn("leader.interrupted election={}: it stands no more", settings.shownName());
        }
        close();
    }

    /** Ends the term, and the wait for the next one. */
    void close() {
        closed.complete(null);
        Term current = term;
        if (current != null) {
            current.end(TermEnd.CLOSED);
        }
        interruptStanding();
    }

    private synchronized void interruptStanding() {
        if (standing != null) {
            standing.interrupt();
        }
    }

    private void await(CompletableFuture<?> event, Duration atMost) {
        try {
            event.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            endInterrupted();
        } catch (TimeoutException e) {
            // Time to go on.
        } catch (ExecutionException e) {
            throw new IllegalStateException("no event fails", e);
        }
    }
}
