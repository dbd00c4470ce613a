package dev.latchkey.leader;

import dev.latchkey.LockStorageException;
import dev.latchkey.threads.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one term, on the thread of the candidate: has the callback lead on a thread of its own, notices the end, waits until the
 * callback has returned, and only then releases the lock. A callback that returns in time never runs beside the next leader.
 */
final class TermRun {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.LeaderElection");

    /** How late it is noticed that the factory was closed, which tells nobody. */
    private static final Duration LONGEST_LOOK = Duration.ofSeconds(1);

    /** Where there is no lease: the store is asked at each of them. */
    private static final int LOOKS_IN_A_TTL = 3;

    private final ElectionSettings settings;
    private final Term term;
    private final CompletableFuture<Void> returned = new CompletableFuture<>();
    private boolean interrupted;

    private CompletableFuture<?> confirmation = CompletableFuture.completedFuture(null);

    TermRun(ElectionSettings settings, Term term) {
        this.settings = settings;
        this.term = term;
    }

    /**
     * Leads until the end of the term, and releases the lock. An interrupt ends the term, and is kept.
     *
     * @return done when the callback has returned, which it may not have yet: then it has been told, and has had its time
     */
    CompletableFuture<Void> run() {
        long start = System.nanoTime();
        try {
            // The listener hears of what was lost before this call as well.
            term.lock().onLost(reason -> term.end(TermEnd.LOST));
            if (term.lasts()) {
                leadAndStop();
            } else {
                returned.complete(null);
            }
        } finally {
            term.end(TermEnd.FAILED);
            release();
            log.info(
                    "leader.ended election={} term={} end={} ledMs={}",
                    settings.shownName(),
                    term.shownNumber(),
                    term.end().join(),
                    (System.nanoTime() - start) / 1_000_000);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return returned;
    }

    private void leadAndStop() {
        Thread worker = new DaemonThreads().make(this::callLeader, "latchkey-leader");
        log.info("leader.elected election={} term={}", settings.shownName(), term.shownNumber());
        worker.start();
        try {
            while (term.lasts()) {
                // It ends when the callback returns, too.
                await(term.end(), untilNextLook());
                confirm();
            }
        } finally {
            // Whatever has failed here: who leads has to know that before another one does.
            term.end(TermEnd.FAILED);
            if (!returned.isDone()) {
                worker.interrupt();
                awaitReturn();
            }
        }
    }

    /**
     * Without a lease nothing is renewed, and a store may not tell of a hold that somebody has removed: it is asked, on another
     * thread. If the hold is gone, the listener of the lock hears of it.
     */
    private void confirm() {
        if (confirmation.isDone() && term.lasts() && term.remaining().isEmpty()) {
            try {
                confirmation = term.lock().refreshAsync();
            } catch (OutOfMemoryError e) {
                // No thread is to be had for it now, which is no reason to lead no more.
            }
        }
    }

    private void callLeader() {
        TermEnd end = TermEnd.FAILED;
        try {
            settings.leader().lead(term);
            end = TermEnd.RETURNED;
        } catch (InterruptedException e) {
            end = failed(e, TermEnd.RETURNED);
        } catch (Throwable e) {
            end = failed(e, TermEnd.FAILED);
        } finally {
            term.end(end);
            returned.complete(null);
        }
    }

    /** What a callback throws when its term has ended is its way to return. */
    private TermEnd failed(Throwable failure, TermEnd afterwards) {
        if (term.lasts()) {
            log.error("leader.callback_failed election={} term={}", settings.shownName(), term.shownNumber(), failure);
            return TermEnd.FAILED;
        }
        log.debug("leader.callback_stopped election={} term={}", settings.shownName(), term.shownNumber(), failure);
        return afterwards;
    }

    private Duration untilNextLook() {
        Duration rest = term.remaining().orElse(settings.ttl().dividedBy(LOOKS_IN_A_TTL));
        return rest.compareTo(LONGEST_LOOK) < 0 ? rest : LONGEST_LOOK;
    }

    /** Interrupts meanwhile change nothing: the term has ended. */
    private void awaitReturn() {
        long end = System.nanoTime() + settings.stopTime().toNanos();
        while (!returned.isDone() && end - System.nanoTime() > 0) {
            await(returned, Duration.ofNanos(end - System.nanoTime()));
        }
        if (!returned.isDone()) {
            log.warn(
                    "leader.callback_goes_on election={} term={} stopTimeMs={}: it has not returned; another process may lead"
                            + " beside it",
                    settings.shownName(),
                    term.shownNumber(),
                    settings.stopTime().toMillis());
        }
    }

    private void await(CompletableFuture<?> event, Duration atMost) {
        try {
            event.get(atMost.toNanos() + 1, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            interrupted = true;
            term.end(TermEnd.CLOSED);
        } catch (TimeoutException e) {
            // Time to look.
        } catch (ExecutionException e) {
            throw new IllegalStateException("neither event fails", e);
        }
    }

    private void release() {
        try {
            term.lock().release();
        } catch (LockStorageException e) {
            log.warn("leader.release_failed election={}: it ends with its TTL", settings.shownName(), e);
        }
    }
}
