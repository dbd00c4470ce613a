package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Works on resources of several stripes while nobody else does. */
final class Batch {

    private final Function<String, Stripe> stripeOf;
    private final List<Stripe> stripes;

    Batch(List<Key> keys, Function<String, Stripe> stripeOf) {
        this.stripeOf = stripeOf;
        // In one order everywhere, so that no two batches wait for each other.
        this.stripes = keys.stream()
                .map(key -> stripeOf.apply(key.resource()))
                .distinct()
                .sorted((one, other) -> Integer.compare(one.number(), other.number()))
                .toList();
    }

    <T> T alone(Function<Batch, T> work) {
        List<Stripe> entered = new ArrayList<>();
        try {
            for (Stripe stripe : stripes) {
                stripe.guard().lock();
                entered.add(stripe);
            }
            return work.apply(this);
        } finally {
            Collections.reverse(entered);
            List<CompletableFuture<Void>> recalls = new ArrayList<>();
            entered.forEach(stripe -> recalls.addAll(stripe.unlock()));
            Recalls.send(recalls);
        }
    }

    BatchAttempt saveAll(List<Request> requests, Optional<StateCheck> check, Map<String, StateIndex> indexes) {
        Set<String> blocked = new TreeSet<>();
        Map<String, LossReason> lost = new TreeMap<>();
        Duration retryAfter = Duration.ZERO;
        boolean isRecalled = true;
        long now = System.nanoTime();
        for (Request request : requests) {
            String resource = request.key().resource();
            Response refusal = stripeOf.apply(resource).refusal(request, now);
            if (refusal instanceof Response.Lost loss) {
                lost.put(resource, loss.reason());
            } else if (refusal instanceof Response.Conflicted conflict) {
                blocked.add(resource);
                retryAfter = retryAfter.compareTo(conflict.retryAfter()) < 0 ? conflict.retryAfter() : retryAfter;
                isRecalled &= conflict.isRecalled();
            }
        }
        if (!lost.isEmpty()) {
            return new BatchAttempt.Lost(lost);
        }
        if (!blocked.isEmpty()) {
            return new BatchAttempt.Conflicted(blocked, retryAfter, isRecalled);
        }
        Map<String, Long> stale =
                check.map(known -> known.stale(requests, indexes)).orElse(Map.of());
        return stale.isEmpty() ? grant(requests, now) : new BatchAttempt.Stale(stale);
    }

    private BatchAttempt grant(List<Request> requests, long now) {
        List<Response.Granted> grants = new ArrayList<>();
        for (Request request : requests) {
            Response response = stripeOf.apply(request.key().resource()).saveAt(now, request);
            if (!(response instanceof Response.Granted granted)) {
                throw new IllegalStateException("two looks at the same moment differ: " + response);
            }
            grants.add(granted);
        }
        return new BatchAttempt.Granted(grants);
    }

    int deleteAll(List<Key> keys) {
        return (int) keys.stream()
                .filter(key -> stripeOf.apply(key.resource()).deleteNow(key))
                .count();
    }
}
