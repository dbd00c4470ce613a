package dev.latchkey;

import dev.latchkey.LockListener.Operation;
import dev.latchkey.events.LockEvents;
import dev.latchkey.events.StoreCall;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the holds of one factory on its renewer thread. What falls due within one window, a thirtieth of the TTL, is
 * due together at the window's beginning, and goes to the store in one call: many locks cost neither a thread nor a round
 * trip each.
 */
final class RenewalScheduler {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    /** Small enough for a slow server to answer some in time, large enough to make round trips cheap. */
    private static final int LARGEST_BATCH = 1_000;

    /** One hold that is to be renewed. Used by the renewer thread alone. */
    interface Renewal {

        String shownResource();

        /** It is due: from now on the store is to blame if the lease ends. */
        void isDue();

        /** How long an answer is of use. */
        Duration remaining();

        /** Begins to renew; empty if it is not to be renewed now. What has begun is settled, or fails. */
        Optional<Request> begin();

        /** Takes the store's answer; true if the store has begun to fail. */
        boolean settle(RefreshResult result);

        /** Something unexpected has happened, and it may have begun or not: it is to be renewed again soon. */
        void fail();
    }

    /** One renewal with what the store is asked for it. */
    private record Asked(Renewal renewal, Request request) {}

    private final FactoryThreads threads;
    private final PersistingStore store;
    private final Optional<ExpiringStore> expiring;
    private final LockEvents events;
    private final int batchSize;

    /** Touched by the renewer thread alone. */
    private final List<Renewal> due = new ArrayList<>();

    RenewalScheduler(
            FactoryThreads threads, PersistingStore store, Optional<ExpiringStore> expiring, LockEvents events) {
        this.threads = threads;
        this.store = store;
        this.expiring = expiring;
        this.events = events;
        this.batchSize = expiring.filter(ExpiringStore::refreshesAtOnce).isPresent() ? LARGEST_BATCH : 1;
    }

    /** Has something renewed after the delay, or earlier by less than the window. */
    Future<?> schedule(Renewal renewal, Duration delay, Duration window) {
        long latest = System.nanoTime() + delay.toNanos();
        long early = Math.floorMod(latest, Math.max(1, window.toNanos()));
        return threads.renewIn(latest - early - System.nanoTime(), () -> collect(renewal));
    }

    /** Everything else that is due is collected before the call to the store, which comes after it in the queue. */
    private void collect(Renewal renewal) {
        due.add(renewal);
        if (due.size() == 1) {
            try {
                threads.renew(this::renewDue);
            } catch (RuntimeException | Error e) {
                // Else nothing would ever empty the list, and no hold would be renewed again.
                renewDue();
            }
        }
    }

    private void renewDue() {
        try {
            due.forEach(Renewal::isDue);
            for (int from = 0; from < due.size(); from += batchSize) {
                renewTogether(due.subList(from, Math.min(due.size(), from + batchSize)));
            }
        } finally {
            due.clear();
        }
    }

    /** Also where memory runs out, nothing stays in flight, and everything is renewed again. */
    private void renewTogether(List<Renewal> renewals) {
        try {
            List<Asked> batch = new ArrayList<>();
            for (Renewal renewal : renewals) {
                begin(renewal).ifPresent(request -> batch.add(new Asked(renewal, request)));
            }
            if (!batch.isEmpty()) {
                renew(batch);
            }
        } catch (Throwable e) {
            renewals.forEach(renewal -> failed(renewal, e));
        }
    }

    /** Whatever is wrong with one hold, the others are renewed. */
    private Optional<Request> begin(Renewal renewal) {
        try {
            return renewal.begin();
        } catch (Throwable e) {
            failed(renewal, e);
            return Optional.empty();
        }
    }

    private boolean settle(Renewal renewal, RefreshResult outcome) {
        try {
            return renewal.settle(outcome);
        } catch (Throwable e) {
            failed(renewal, e);
            return false;
        }
    }

    private void failed(Renewal renewal, Throwable failure) {
        try {
            renewal.fail();
            log(() -> log.error("lock.renewal_failed resource={}", renewal.shownResource(), failure));
        } catch (Throwable e) {
            // Such as for want of memory: the others are renewed all the same.
        }
    }

    private void renew(List<Asked> batch) {
        List<Request> requests = batch.stream().map(Asked::request).toList();
        Duration within = batch.stream()
                .map(asked -> asked.renewal().remaining())
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
        List<RefreshResult> outcomes = outcomes(requests, within);
        List<Integer> failing = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            if (settle(batch.get(i).renewal(), outcomes.get(i))) {
                failing.add(i);
            }
        }
        if (!failing.isEmpty()) {
            int first = failing.get(0);
            RuntimeException failure = ((RefreshResult.Failed) outcomes.get(first)).failure();
            String resource = batch.get(first).renewal().shownResource();
            log(() -> log.warn("lock.refresh_failing locks={} resource={}", failing.size(), resource, failure));
        }
    }

    /** Not by the renewer: what writes the log may be stuck. */
    private void log(Runnable line) {
        threads.notifier().execute(line);
    }

    private List<RefreshResult> outcomes(List<Request> requests, Duration within) {
        try (StoreCall call = events.storeCall(Operation.REFRESH)) {
            List<RefreshResult> outcomes =
                    expiring.isPresent() ? expiring.get().refreshAll(requests, within) : findAll(requests);
            if (outcomes.stream().noneMatch(RefreshResult.Failed.class::isInstance)) {
                outcomes = call.answered(outcomes);
            }
            if (outcomes.size() == requests.size()) {
                return outcomes;
            }
            throw new IllegalStateException(store.getClass().getSimpleName() + ".refreshAll answered " + outcomes.size()
                    + " of " + requests.size() + " requests");
        } catch (RuntimeException e) {
            return allFailed(requests, e);
        } catch (Throwable e) {
            // An Error of the store, or of its driver, must not end the renewal of all that is held.
            return allFailed(requests, new IllegalStateException("the store failed with an error", e));
        }
    }

    private static List<RefreshResult> allFailed(List<Request> requests, RuntimeException failure) {
        return requests.stream()
                .<RefreshResult>map(request -> new RefreshResult.Failed(failure))
                .toList();
    }

    /** Where holds do not expire, renewing means to look whether they are still there. */
    private List<RefreshResult> findAll(List<Request> requests) {
        return requests.stream()
                .map(request -> RefreshResult.of(() -> store.find(request.key())
                        .<Response>map(granted -> granted)
                        .orElse(new Response.Lost(LossReason.SESSION_LOST))))
                .toList();
    }
}
