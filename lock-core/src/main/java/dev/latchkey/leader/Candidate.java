package dev.latchkey.leader;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
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

    private int failures;

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
            Duration pause = settings.backoff().first();
            try {
                TermEnd end = lead(stand());
                failures = end == TermEnd.FAILED ? failures + 1 : 0;
                pause = settings.backoff().after(failures);
            } catch (InterruptedException e) {
                // By close(), or by whoever ends the threads of this JVM.
                close();
            } catch (IllegalStateException e) {
                endWithFactory(e);
            } catch (Throwable e) {
                pause = afterFailure(e);
            }
            await(closed, pause);
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
        failures++;
        Duration pause = settings.backoff().after(failures);
        boolean isWithdrawn = failure instanceof LockConflictedException conflict
                && conflict.reason() == LockConflictedException.Reason.CLOSED_WHILE_WAITING;
        if (isWithdrawn) {
            log.debug("leader.wait_ended election={}", settings.shownName());
        } else if (failures == 1) {
            log.warn("leader.standing_failed election={} pauseMs={}", settings.shownName(), pause.toMillis(), failure);
        } else {
            log.debug(
                    "leader.standing_failed election={} failures={} pauseMs={}",
                    settings.shownName(),
                    failures,
                    pause.toMillis(),
                    failure);
        }
        return isWithdrawn ? Duration.ZERO : pause;
    }

    private void endWithFactory(IllegalStateException e) {
        log.debug("leader.factory_closed election={}", settings.shownName(), e);
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
            close();
        } catch (TimeoutException e) {
            // Time to go on.
        } catch (ExecutionException e) {
            throw new IllegalStateException("no event fails", e);
        }
    }
}
