package dev.latchkey;

import dev.latchkey.Hold.PendingRequest;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.OperationMutex.RequestMutex;
import dev.latchkey.events.StoreCall;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the lease of what a Lock holds again: asked by its holder, or together with others by the renewer. */
final class Refresher {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    private final FactoryContext context;
    private final LockSettings settings;
    private final LockState state;
    private final LeaseMonitor monitor;
    private final RequestMutex requestMutex;

    Refresher(
            FactoryContext context,
            LockSettings settings,
            LockState state,
            LeaseMonitor monitor,
            RequestMutex requestMutex) {
        this.context = context;
        this.settings = settings;
        this.state = state;
        this.monitor = monitor;
        this.requestMutex = requestMutex;
    }

    void refresh(Duration wanted) {
        check();
        Object unused = requestMutex.run(() -> refreshInFlight(wanted));
    }

    void refresh(Duration wanted, Duration minHold) {
        if (!minHold.isZero() && context.expiring().isEmpty()) {
            throw new UnsupportedOperationException(LockSettings.NO_MIN_HOLD);
        }
        check();
        Object unused = requestMutex.run(() -> {
            PendingRequest pending = refreshInFlight(wanted);
            Deadline end = Deadline.in(minHold);
            state.trackerOf(pending).ifPresent(tracker -> tracker.minHoldEnds(end));
            return pending;
        });
    }

    private PendingRequest refreshInFlight(Duration wanted) {
        PendingRequest pending = checked(monitor.run(state.beginRefresh(wanted)));
        Response response;
        LeaseMonitor.Asking asking = monitor.asking();
        try (asking) {
            response = ask(pending.request(context.owner()));
        } catch (RuntimeException | Error e) {
            failed(pending, e);
            monitor.throwIfLost(pending, e);
            throw e;
        }
        try {
            settle(pending, response);
        } catch (LockLostException e) {
            state.lastLoss().thrown(pending);
            throw e;
        }
        if (pending.change() == LeaseChange.SET) {
            context.acquireLoop().shortened(state.resource());
        }
        return pending;
    }

    /** Throws unless there is something to refresh. */
    private void check() {
        PendingRequest unused = checked(monitor.run(state.begin()));
    }

    private PendingRequest checked(PendingRequest pending) {
        if (!pending.isFresh()) {
            return pending;
        }
        LossReason loss = state.lastLoss().thrown(pending).orElse(null);
        if (loss == null) {
            throw new IllegalStateException("lock \"" + LockException.shown(state.resource())
                    + "\": cannot be refreshed: it is not held; acquire it first");
        }
        throw new LockLostException(state.resource(), "it cannot be refreshed because it was lost before", loss);
    }

    /** Notes that the store has not answered. */
    private void failed(PendingRequest pending, Throwable failure) {
        if (LockStorageException.isUndone(failure)) {
            state.unanswered().answered(pending);
        } else {
            state.failed(pending);
        }
    }

    private Response ask(Request request) {
        try (StoreCall call = context.events().storeCall(Operation.REFRESH)) {
            return call.answered(context.expiring()
                    .map(store -> store.refresh(request))
                    .orElseGet(() -> context.store()
                            .find(request.key())
                            .<Response>map(granted -> granted)
                            .orElse(new Response.Lost(LossReason.SESSION_LOST))));
        }
    }

    /**
     * Believes what the store answered, but for an answer that came too late: what has looked over is not held again.
     *
     * @throws LockLostException if it is lost, of which nobody is told by that
     */
    private void settle(PendingRequest pending, Response response) {
        state.unanswered().answered(pending);
        if (!(response instanceof Response.Granted granted)) {
            if (state.isHeldOtherwise(pending)) {
                // Promoted since, which started the TTL again: the store was asked about what was given up for that.
                return;
            }
            LossReason reason = response instanceof Response.Lost lost ? lost.reason() : LossReason.TAKEN_OVER;
            throw monitor.found(pending, reason, "it could not be refreshed because it was no longer held");
        }
        boolean unused = monitor.run(state.look());
        Optional<Duration> slack = state.hold().flatMap(Hold::remaining);
        Hold hold = Hold.of(granted);
        if (!confirm(pending, hold) || !monitor.run(state.look())) {
            throw monitor.found(
                    pending, hold.isOver() ? hold.whyOver() : LossReason.EXPIRED, "it was refreshed too late");
        }
        slack.ifPresent(left -> context.events().renewed(state.resource(), left));
        if (log.isDebugEnabled()) {
            log.debug(
                    "lock.refreshed resource={} ttlMs={}",
                    LockException.shown(state.resource()),
                    granted.lease().ttl().toMillis());
        }
    }

    /** Believes that what is held is held on, as the store has answered; false if it has ended meanwhile. */
    boolean confirm(PendingRequest pending, Hold hold) {
        Optional<HoldTracker> tracker = hold.isOver() ? Optional.empty() : monitor.run(state.confirmed(pending, hold));
        tracker.ifPresent(current -> {
            current.tellBegin(context.events(), state.resource(), hold.mode());
            context.lookLater();
            renewInTime(current, hold.deadline());
        });
        return tracker.isPresent();
    }

    /** Renewal goes by the TTL, unless somebody has asked for a shorter lease meanwhile. */
    void renewInTime(HoldTracker tracker, @Nullable Deadline end) {
        if (!settings.isRenewed() || end == null) {
            return;
        }
        if (!tracker.isRenewed()) {
            context.threads().getReadyToTell();
            new Task(tracker).scheduleNext();
        } else if (end.remaining().compareTo(settings.ttl().dividedBy(2)) < 0) {
            new Task(tracker).scheduleWithin(end.remaining());
        }
    }

    /** The renewing of one hold from its grant to its end, at every third of the TTL. */
    private final class Task implements RenewalScheduler.Renewal {

        private final HoldTracker tracker;
        private @Nullable PendingRequest pending;
        private boolean isInFlight;

        Task(HoldTracker tracker) {
            this.tracker = tracker;
        }

        void scheduleNext() {
            Duration ttl = settings.ttl();
            schedule(ttl.dividedBy(3), ttl.dividedBy(30));
        }

        /** As {@link #scheduleNext()} for a lease that is shorter than the TTL. */
        void scheduleWithin(Duration rest) {
            Duration pause = LockSettings.max(rest.dividedBy(3), Deadline.SHORTEST_TTL);
            schedule(pause, pause.dividedBy(10));
        }

        /** Tries again within what is left of the lease, ever sooner towards its end. */
        private void scheduleSoon() {
            Duration soon =
                    LockSettings.min(settings.ttl().dividedBy(20), remaining().dividedBy(4));
            Duration pause = LockSettings.max(soon, Deadline.SHORTEST_TTL);
            schedule(pause, pause.dividedBy(2));
        }

        private void schedule(Duration delay, Duration window) {
            tracker.renewNext(() -> context.renewalScheduler().schedule(this, delay, window));
        }

        @Override
        public String shownResource() {
            return LockException.shown(state.resource());
        }

        @Override
        public void isDue() {
            tracker.renewalBegins();
        }

        @Override
        public Duration remaining() {
            Deadline deadline = state.deadlineOf(tracker);
            return deadline == null ? settings.ttl() : deadline.remaining();
        }

        /** {@inheritDoc} A call of the holder may be in flight, for which nobody else's renewal may wait. */
        @Override
        public Optional<Request> begin() {
            if (!state.isCurrent(tracker)) {
                return Optional.empty();
            }
            if (!requestMutex.beginsAtOnce()) {
                scheduleSoon();
                return Optional.empty();
            }
            isInFlight = true;
            PendingRequest begun = monitor.run(state.begin());
            pending = begun;
            if (begun.isFresh()) {
                endFlight();
                return Optional.empty();
            }
            return Optional.of(begun.request(context.owner()));
        }

        @Override
        public boolean settle(RefreshResult result) {
            boolean isNews = settleInFlight(result);
            endFlight();
            return isNews;
        }

        @Override
        public void fail() {
            endFlight();
            scheduleSoon();
        }

        private void endFlight() {
            if (isInFlight) {
                isInFlight = false;
                requestMutex.end();
            }
        }

        private boolean settleInFlight(RefreshResult result) {
            PendingRequest begun = pending;
            if (begun == null || !state.isCurrent(tracker)) {
                return false;
            }
            if (result instanceof RefreshResult.Failed failed) {
                Refresher.this.failed(begun, failed.failure());
                scheduleSoon();
                return tracker.renewalEnds(result);
            }
            try {
                Refresher.this.settle(begun, ((RefreshResult.Answered) result).response());
                scheduleNext();
                return tracker.renewalEnds(result);
            } catch (LockLostException | IllegalStateException e) {
                log.debug("lock.renewal_ended resource={}", shownResource(), e);
                return false;
            }
        }
    }
}
