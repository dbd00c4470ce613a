package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Does what the line of a resource asks for: acquires, renews and releases holds of the store. */
final class LineCalls {

    private final RecallableStore store;
    private final Optional<ExpiringStore> leases;
    private final StickyLines lines;
    private final LineReleases releases;
    private final RecallListener recalls;

    /** The keys of requests that were not answered, by the token of the Lock that gives back what they may have granted. */
    private final Map<String, Key> unanswered = new ConcurrentHashMap<>();

    LineCalls(RecallableStore store, StickyLines lines, LineReleases releases, RecallListener recalls) {
        this.store = store;
        this.leases = store.capability(ExpiringStore.class);
        this.lines = lines;
        this.releases = releases;
        this.recalls = recalls;
    }

    /** Acquires for a Lock that holds nothing, without waiting for others. */
    Response acquire(Request request) {
        String resource = request.key().resource();
        StickyLine line = lines.enter(resource);
        NextStep step = line.begin(request);
        while (step == null) {
            lines.remove(resource, line);
            line = lines.enter(resource);
            step = line.begin(request);
        }
        while (true) {
            Response response = take(line, step, request, store::save);
            if (response != null) {
                return response;
            }
            step = line.proceed(request);
        }
    }

    /** Acquires for a Lock that holds nothing; waits for other Locks of this process here, and for all others in the store. */
    Response await(Request request, Duration maxWait, CompletionStage<?> withdrawn) throws InterruptedException {
        String resource = request.key().resource();
        long end = System.nanoTime() + maxWait.toNanos();
        StickyLine line = lines.enter(resource);
        LocalWaiter waiter = line.join(request);
        while (waiter == null) {
            lines.remove(resource, line);
            line = lines.enter(resource);
            waiter = line.join(request);
        }
        return await(line, waiter, end, withdrawn);
    }

    /** Promotes what a Lock shares, without waiting for others. */
    Response promote(UsedHold used) {
        Response response = null;
        while (response == null) {
            response = take(used.line(), used.line().promote(used.local()), used.local(), store::save);
        }
        return response;
    }

    /** Promotes what a Lock shares, and waits for others that share it. */
    Response awaitPromotion(UsedHold used, Duration maxWait, CompletionStage<?> withdrawn) throws InterruptedException {
        long end = System.nanoTime() + maxWait.toNanos();
        LocalWaiter waiter = used.line().joinToPromote(used.local());
        return waiter == null ? new Response.Refused() : await(used.line(), waiter, end, withdrawn);
    }

    private Response await(StickyLine line, LocalWaiter waiter, long end, CompletionStage<?> withdrawn)
            throws InterruptedException {
        Request request = waiter.request();
        withdrawn.thenRun(() -> line.withdraw(waiter));
        NextStep step = NextStep.Refused.REFUSED;
        try {
            while (true) {
                step = line.await(waiter, end);
                Response response = take(line, step, request, asked -> wait(asked, end, withdrawn));
                if (response != null) {
                    return response;
                }
            }
        } finally {
            leave(line, waiter, step);
        }
    }

    private void leave(StickyLine line, LocalWaiter waiter, NextStep end) {
        Key local = waiter.request().key();
        if (line.leave(waiter, end)) {
            // What has ended the wait is not to be hidden by a failure.
            boolean unused = LineReleases.quietly(waiter.request().ttl(), () -> release(local));
        } else if (!(end instanceof NextStep.Holds)) {
            releases.releaseLater(line, line.due());
        }
    }

    private Response wait(Request asked, long end, CompletionStage<?> withdrawn) throws InterruptedException {
        long rest = end - System.nanoTime();
        return rest <= 0
                ? store.save(asked)
                : store.waitAndSave(asked.with(RetryIntent.AGAIN), Duration.ofNanos(rest), withdrawn);
    }

    /** Does one step of a call; null if there is another one to do. */
    private <X extends Exception> @Nullable Response take(
            StickyLine line, NextStep step, Request request, UsedHold.Ask<X> ask) throws X {
        if (step instanceof NextStep.Holds holds) {
            return holds.answer();
        }
        if (step instanceof NextStep.Ask fresh) {
            return ask(line, request, fresh.isSticky(), ask);
        }
        if (step instanceof NextStep.Renew renewal) {
            return renew(line, request, renewal.kept());
        }
        if (step instanceof NextStep.Promote promotion) {
            LocalHold hold = promotion.hold();
            Request asked = KeptHold.asked(request, hold.kept().claiming(request.key()), false);
            return promote(new UsedHold(line, hold, request, asked), ask);
        }
        if (step instanceof NextStep.Gone) {
            return new Response.Lost(LossReason.EXPIRED);
        }
        if (step instanceof NextStep.Release release) {
            boolean unused = releases.release(line, release.kept());
            return null;
        }
        return Response.Conflicted.NO_HINT;
    }

    private <X extends Exception> Response ask(StickyLine line, Request request, boolean isSticky, UsedHold.Ask<X> ask)
            throws X {
        Request asked = KeptHold.asked(request, request.key().renewed(), isSticky);
        Response response = null;
        try {
            response = ask.ask(asked);
        } catch (RuntimeException | Error e) {
            if (!isUndone(e)) {
                unanswered.put(request.key().token(), asked.key());
            }
            throw e;
        } finally {
            if (!(response instanceof Response.Granted)) {
                releases.done(line);
            }
        }
        if (!(response instanceof Response.Granted granted)) {
            return response;
        }
        KeptHold kept = new KeptHold(asked, granted, store::reservedTokens);
        Response answer = line.granted(request, asked, kept);
        recalls.listen(line, kept);
        return answer;
    }

    private <X extends Exception> Response promote(UsedHold used, UsedHold.Ask<X> ask) throws X {
        try {
            return used.ask(ask);
        } finally {
            releases.releaseLater(used.line(), used.line().promotionDone());
        }
    }

    /** A Lock that shares it may end the keeping meanwhile: then it is not known when it ends until this is answered. */
    private @Nullable Response renew(StickyLine line, Request request, KeptHold kept) {
        line.beginRequest(kept);
        try {
            return renewed(line, request, kept);
        } finally {
            line.endRequest(kept);
        }
    }

    private @Nullable Response renewed(StickyLine line, Request request, KeptHold kept) {
        Request asked = KeptHold.asked(request, kept.claim(), true);
        Response response = null;
        try {
            response = leases.orElseThrow().refresh(asked);
        } finally {
            if (response == null) {
                releases.releaseLater(line, line.notRenewed(asked, kept));
            }
        }
        Response answer = line.renewed(request, asked, kept, response);
        recalls.begun(line, kept);
        return answer;
    }

    /** Releases what a Lock holds, or keeps it for the next; asks the store about a key that holds nothing here. */
    boolean release(Key local) {
        StickyLine line = lines.get(local.resource());
        NextStep step = line == null ? NextStep.Refused.REFUSED : line.release(local);
        if (line != null && step instanceof NextStep.Release release) {
            return releases.release(line, release.kept());
        }
        if (line != null && step instanceof NextStep.ReleaseUnkept release) {
            return releases.releaseUnkept(line, release.ended().claiming(local));
        }
        if (step instanceof NextStep.Holds) {
            return true;
        }
        Key asked = unanswered.remove(local.token());
        return store.delete(asked == null ? local : asked);
    }

    private static boolean isUndone(Throwable failure) {
        return failure instanceof IllegalArgumentException
                || (failure instanceof LockStorageException storage
                        && storage.failure() != LockStorageException.Failure.IN_DOUBT);
    }
}
