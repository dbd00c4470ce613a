package dev.latchkey.spi;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The sticky holds of one {@link RecallableStore} that hears of recalls by messages, and what tells their holders that somebody
 * else asks for the resource. A message names the resource alone: one that is late recalls a newer hold, which does no harm.
 *
 * <p>Thread-safe. {@link #recall} and {@link #recallAll} take as long as there are holds of the resource, and of the store; they
 * wait for nothing, but complete the stages of the holders.
 */
public final class KeptHolds {

    private static final int SWEEP_FROM = 1_024;
    private static final int REMEMBERED_RECALLS = 1_000;

    /** A hold, whose fencing tokens and end change. */
    private static final class Kept {

        private final CompletableFuture<Void> recalled = new CompletableFuture<>();
        private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
        private @Nullable CompletionStage<LossReason> followed;
        private OptionalLong endNanos;
        private long firstToken = Long.MAX_VALUE;
        private long lastToken;

        Kept(OptionalLong endNanos) {
            this.endNanos = endNanos;
        }

        synchronized void lastUntil(OptionalLong nanos) {
            boolean isLater = nanos.isEmpty() || (endNanos.isPresent() && nanos.getAsLong() - endNanos.getAsLong() > 0);
            endNanos = isLater ? nanos : endNanos;
        }

        synchronized boolean hasEnded(long now) {
            return endNanos.isPresent() && endNanos.getAsLong() - now <= 0;
        }

        /** Its holder may use these. */
        synchronized void mayUse(long from, long more) {
            firstToken = Math.min(firstToken, from);
            lastToken = Math.max(lastToken, from + more);
        }

        synchronized boolean hasToken(long token) {
            return firstToken <= token && token <= lastToken;
        }

        /** If the hold under one token is lost, so is this. */
        synchronized void follow(CompletionStage<LossReason> ofToken) {
            if (ofToken != followed) {
                followed = ofToken;
                var unused = ofToken.thenAccept(lost::complete);
            }
        }
    }

    /** The resources that were asked for last, the one that was asked for most lately at the end. */
    private static final class LastRecalls extends LinkedHashMap<String, Long> {

        @Override
        public @Nullable Long put(String name, Long nanos) {
            // One that is there already would stay where it is.
            remove(name);
            return super.put(name, nanos);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > REMEMBERED_RECALLS;
        }
    }

    private final UnaryOperator<String> nameInMessages;

    /** By the name of the resource in messages, and by the token of the key. */
    private final ConcurrentMap<String, ConcurrentMap<String, Kept>> holds = new ConcurrentHashMap<>();

    private final AtomicInteger count = new AtomicInteger();

    /** When resources were asked for last: a message may come before the answer that grants what it recalls. */
    private final Map<String, Long> recalls = Collections.synchronizedMap(new LastRecalls());

    private final AtomicInteger sweepAt = new AtomicInteger(SWEEP_FROM);
    private volatile long allRecalledNanos = System.nanoTime();

    /** Creates an object without holds, to which messages come with the names of resources. */
    public KeptHolds() {
        this(UnaryOperator.identity());
    }

    /**
     * Creates an object without holds.
     *
     * @param nameInMessages what messages call a resource, by its name
     */
    public KeptHolds(UnaryOperator<String> nameInMessages) {
        this.nameInMessages = nameInMessages;
    }

    /**
     * Returns the same answer to a request. If it is one about a sticky hold, {@link Lease#recalled()} completes when the
     * resource is recalled from now on, or was since the request was sent, and {@link Lease#lost()} when the hold is ended by
     * force, or has ended as the lease says.
     *
     * @param request the request, with the name of the resource
     * @param response the answer of the server, whose lease has a time
     * @return the answer for the core
     */
    public Response watch(Request request, Response response) {
        return response instanceof Response.Granted granted
                ? watch(request, granted, granted.lease().since().orElseThrow())
                : response;
    }

    /**
     * As {@link #watch(Request, Response)}, for a lease with or without a time.
     *
     * @param request the request
     * @param granted the answer of the server
     * @param sentNanos a {@link System#nanoTime()} that is not later than the moment at which the request was sent
     * @return the answer for the core
     */
    public Response.Granted watch(Request request, Response.Granted granted, long sentNanos) {
        Lease lease = granted.lease();
        boolean mayBeKept = request.isSticky() || !holds.isEmpty();
        String name = mayBeKept ? nameInMessages.apply(request.key().resource()) : "";
        Kept kept = mayBeKept ? kept(request, name, endOf(lease)) : null;
        if (kept == null) {
            return granted;
        }
        lease.lost().ifPresent(kept::follow);
        granted.fencingToken().ifPresent(token -> kept.mayUse(token, request.reservedTokens()));
        if (wasRecalled(name, sentNanos)) {
            kept.recalled.complete(null);
        }
        sweepIfGrown();
        Lease watched = new Lease(
                lease.since(), lease.ttl(), Optional.of(kept.lost), lease.isLive(), Optional.of(kept.recalled));
        return new Response.Granted(granted.mode(), granted.fencingToken(), watched);
    }

    private static OptionalLong endOf(Lease lease) {
        return lease.since().isPresent()
                ? OptionalLong.of(lease.since().getAsLong() + lease.ttl().toNanos())
                : OptionalLong.empty();
    }

    /** The hold that a request is about; null if that is not sticky. */
    private @Nullable Kept kept(Request request, String name, OptionalLong endNanos) {
        String token = request.key().token();
        ConcurrentMap<String, Kept> ofResource = holds.get(name);
        Kept before = ofResource == null ? null : ofResource.get(token);
        if (before == null && !request.isSticky()) {
            return null;
        }
        Kept kept = before == null ? added(name, token, new Kept(endNanos)) : before;
        kept.lastUntil(endNanos);
        return kept;
    }

    /** Another answer for the same key may have come meanwhile. */
    private Kept added(String name, String token, Kept fresh) {
        Kept[] added = {fresh};
        holds.compute(name, (same, others) -> {
            ConcurrentMap<String, Kept> all = others == null ? new ConcurrentHashMap<>(2) : others;
            Kept before = all.putIfAbsent(token, fresh);
            if (before == null) {
                count.incrementAndGet();
            } else {
                added[0] = before;
            }
            return all;
        });
        return added[0];
    }

    private boolean wasRecalled(String name, long sentNanos) {
        Long recalledNanos = recalls.get(name);
        return allRecalledNanos - sentNanos >= 0 || (recalledNanos != null && recalledNanos - sentNanos >= 0);
    }

    /**
     * Forgets a hold that is about to be released.
     *
     * @param key its owner
     * @return whether it was sticky
     */
    public boolean released(Key key) {
        if (holds.isEmpty()) {
            return false;
        }
        boolean[] wasKept = new boolean[1];
        holds.computeIfPresent(nameInMessages.apply(key.resource()), (name, all) -> {
            wasKept[0] = all.remove(key.token()) != null;
            return counted(all, wasKept[0] ? 1 : 0);
        });
        return wasKept[0];
    }

    private @Nullable ConcurrentMap<String, Kept> counted(ConcurrentMap<String, Kept> all, int removed) {
        count.addAndGet(-removed);
        return all.isEmpty() ? null : all;
    }

    /**
     * Recalls the sticky holds of a resource, also those whose grant has not been answered yet.
     *
     * @param name what messages call it
     */
    public void recall(String name) {
        recalls.put(name, System.nanoTime());
        ConcurrentMap<String, Kept> ofResource = holds.get(name);
        if (ofResource != null) {
            ofResource.values().forEach(kept -> kept.recalled.complete(null));
        }
    }

    /**
     * Tells the holder of a sticky exclusive hold that it was ended by force, unless it holds the resource still: then the message
     * was about another hold with such a token.
     *
     * @param name what messages call its resource
     * @param fencingToken one of the tokens of that hold, granted or reserved
     * @param holder the {@linkplain Key#token() token of the key} that holds the resource now; empty if nobody does
     */
    public void forced(String name, long fencingToken, Optional<String> holder) {
        ConcurrentMap<String, Kept> ofResource = holds.get(name);
        if (ofResource != null) {
            ofResource.forEach((token, kept) -> {
                if (kept.hasToken(fencingToken) && !holder.equals(Optional.of(token))) {
                    kept.lost.complete(LossReason.FORCED);
                }
            });
        }
    }

    /** Recalls all sticky holds: messages may have been missed, or will not come. */
    public void recallAll() {
        allRecalledNanos = System.nanoTime();
        holds.values().forEach(all -> all.values().forEach(kept -> kept.recalled.complete(null)));
    }

    /** What ends by time without a release must not fill the memory: each time these have doubled, they go. */
    private void sweepIfGrown() {
        int limit = sweepAt.get();
        if (count.get() >= limit && sweepAt.compareAndSet(limit, Integer.MAX_VALUE)) {
            long now = System.nanoTime();
            holds.keySet()
                    .forEach(resource -> holds.computeIfPresent(resource, (name, all) -> {
                        int before = all.size();
                        all.values().removeIf(kept -> kept.hasEnded(now));
                        return counted(all, before - all.size());
                    }));
            sweepAt.set(Math.max(SWEEP_FROM, 2 * count.get()));
        }
    }

    /** How many holds are watched. */
    int size() {
        return count.get();
    }
}
