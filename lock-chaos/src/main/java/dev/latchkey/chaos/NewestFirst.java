package dev.latchkey.chaos;

import dev.latchkey.Key;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits of one process, of which now and then the newest is given what an older one was granted: the older one queues anew, under
 * a key of which its caller knows nothing.
 */
final class NewestFirst {

    private static final class Waiting {
        private final Key caller;
        private final Key known;
        private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();
        private Response.@Nullable Granted given;

        private Waiting(Key caller, Key known) {
            this.caller = caller;
            this.known = known;
        }
    }

    private final BlockingStore store;
    private final BooleanSupplier strikes;
    private final Map<String, Deque<Waiting>> waiting = new ConcurrentHashMap<>();
    private final Map<String, Key> keys = new ConcurrentHashMap<>();

    NewestFirst(BlockingStore store, BooleanSupplier strikes) {
        this.store = store;
        this.strikes = strikes;
    }

    /** The key under which the store knows a caller. */
    Key known(Key key) {
        return keys.getOrDefault(key.token(), key).claiming(key.held());
    }

    Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn) throws InterruptedException {
        Waiting own = new Waiting(request.key(), known(request.key()));
        withdrawn.thenRun(() -> own.withdrawn.complete(null));
        Deque<Waiting> line = waiting.computeIfAbsent(request.key().resource(), resource -> new ArrayDeque<>());
        synchronized (line) {
            line.addLast(own);
        }
        try {
            Response response = store.waitAndSave(request.with(own.known), maxWait, own.withdrawn);
            Optional<Response> kept = kept(request, own, line, response);
            if (kept.isPresent()) {
                return kept.get();
            }
            Key other = Key.of(request.key().resource());
            keys.put(request.key().token(), other);
            return store.waitAndSave(request.with(other), maxWait, withdrawn);
        } finally {
            synchronized (line) {
                line.remove(own);
            }
        }
    }

    /** Empty if what was granted went to somebody who came later. */
    private Optional<Response> kept(Request request, Waiting own, Deque<Waiting> line, Response response) {
        synchronized (line) {
            if (own.given != null) {
                return Optional.of(own.given);
            }
            Waiting newest = newest(line);
            boolean swaps = response instanceof Response.Granted
                    && request.key().held().isEmpty()
                    && newest != own
                    && strikes.getAsBoolean();
            if (!swaps) {
                return Optional.of(response);
            }
            // The newest is known to the store by the key of the one whose grant it takes.
            keys.put(newest.caller.token(), own.known);
            newest.given = (Response.Granted) response;
            newest.withdrawn.complete(null);
            line.remove(newest);
            return Optional.empty();
        }
    }

    private static Waiting newest(Deque<Waiting> line) {
        Iterator<Waiting> fromTheEnd = line.descendingIterator();
        return fromTheEnd.next();
    }
}
