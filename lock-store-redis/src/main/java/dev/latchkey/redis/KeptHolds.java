package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The sticky holds of this store, and what tells their holders that somebody else asks for the resource. A message names the
 * resource alone: one that is late recalls a newer hold, which does no harm.
 *
 * <p>Thread-safe. Threads of the driver call {@link #message} and {@link #recallAll}, which must not wait.
 */
final class KeptHolds {

    private static final int SWEEP_FROM = 1_024;
    private static final int REMEMBERED_RECALLS = 1_000;

    /** A hold, whose fencing token and end change. */
    private static final class Kept {

        private final String resource;
        private final CompletableFuture<Void> recalled = new CompletableFuture<>();
        private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
        private @Nullable CompletionStage<LossReason> followed;
        private volatile long endNanos;

        Kept(String resource, long endNanos) {
            this.resource = resource;
            this.endNanos = endNanos;
        }

        synchronized void lastUntil(long nanos) {
            endNanos = nanos - endNanos > 0 ? nanos : endNanos;
        }

        /** If the hold under one token is lost, so is this. */
        synchronized void follow(CompletionStage<LossReason> ofToken) {
            if (ofToken != followed) {
                followed = ofToken;
                var unused = ofToken.thenAccept(lost::complete);
            }
        }
    }

    private final KeyNames names;
    private final ConcurrentMap<String, Kept> byToken = new ConcurrentHashMap<>();

    /** When resources were asked for last: a message may come before the answer that grants what it recalls. */
    private final Map<String, Long> recalls = Collections.synchronizedMap(new RecentEntries<>(REMEMBERED_RECALLS));

    private final AtomicInteger sweepAt = new AtomicInteger(SWEEP_FROM);
    private volatile long allRecalledNanos = System.nanoTime();

    KeptHolds(KeyNames names) {
        this.names = names;
    }

    /** Returns the same answer to a request; if it is one about a sticky hold, its holder hears of a recall from now on. */
    Response watch(Request request, Response response) {
        if (!(response instanceof Response.Granted granted)) {
            return response;
        }
        String resource = request.key().resource();
        Lease lease = granted.lease();
        long since = lease.since().orElseThrow();
        long end = since + lease.ttl().toNanos();
        String token = request.key().token();
        Kept kept = request.isSticky()
                ? byToken.computeIfAbsent(token, name -> new Kept(resource, end))
                : byToken.get(token);
        if (kept == null) {
            return response;
        }
        kept.lastUntil(end);
        lease.lost().ifPresent(kept::follow);
        boolean wasRecalled = allRecalledNanos - since >= 0
                || Optional.ofNullable(recalls.get(resource))
                        .filter(at -> at - since >= 0)
                        .isPresent();
        if (wasRecalled) {
            kept.recalled.complete(null);
        }
        sweepIfGrown();
        return new Response.Granted(
                granted.mode(),
                granted.fencingToken(),
                new Lease(
                        lease.since(),
                        lease.ttl(),
                        lease.lost().map(ofToken -> kept.lost),
                        lease.isLive(),
                        Optional.of(kept.recalled)));
    }

    void released(Key key) {
        byToken.remove(key.token());
    }

    /** Handles {@code <key of the state>}: others ask for it. */
    void message(String stateKey) {
        names.resource(stateKey.getBytes(StandardCharsets.UTF_8)).ifPresent(resource -> {
            recalls.put(resource, System.nanoTime());
            recall(resource);
        });
    }

    void recall(String resource) {
        byToken.values().stream()
                .filter(kept -> kept.resource.equals(resource))
                .forEach(kept -> kept.recalled.complete(null));
    }

    /** Messages may have been missed, or will not come. */
    void recallAll() {
        allRecalledNanos = System.nanoTime();
        byToken.values().forEach(kept -> kept.recalled.complete(null));
    }

    /** What ends by time without a release must not fill the memory: each time these have doubled, they go. */
    private void sweepIfGrown() {
        int limit = sweepAt.get();
        if (byToken.size() >= limit && sweepAt.compareAndSet(limit, Integer.MAX_VALUE)) {
            long now = System.nanoTime();
            byToken.values().removeIf(kept -> kept.endNanos - now <= 0);
            sweepAt.set(Math.max(SWEEP_FROM, 2 * byToken.size()));
        }
    }
}
