package dev.latchkey.memcached;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LocalProcess;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Takes, renews and gives up holds. A free resource is taken by one {@code add}; all else looks, decides by the
 * {@link Rules}, and changes the item if it is still the same.
 */
record Holds(ServerCalls link, ServerClock clock, String prefix, ResourceMutexes turns) {

    /** How long one call goes on deciding anew while others change the resource. */
    private static final long RETRY_NANOS = Duration.ofSeconds(5).toNanos();

    private static final long LONGEST_PAUSE_NANOS = Duration.ofMillis(250).toNanos();

    /** There, but for how long is not known: believed in for no longer than the answer takes. */
    private static final Duration UNCERTAIN = Duration.ofMillis(1);

    Response save(Request request) {
        int seconds = TtlSeconds.lastingAtLeast(request.ttl());
        Key key = request.key();
        clock.meet(key.resource());
        if (key.held().isEmpty() && request.mode() == LockMode.EXCLUSIVE) {
            long since = System.nanoTime();
            ItemState held = ItemState.heldBy(
                    new ItemState.Writer(OwnerHash.of(key), seconds, holding(key.resource(), seconds)));
            if (items(key.resource()).add(held)) {
                return new Response.Granted(
                        LockMode.EXCLUSIVE, OptionalLong.empty(), Lease.timed(since, request.ttl()));
            }
        }
        return decide(request, Rules::save);
    }

    Response refresh(Request request) {
        TtlSeconds.lastingAtLeast(request.ttl());
        clock.meet(request.key().resource());
        return decide(request, Rules::refresh);
    }

    private Response decide(Request request, Function<Rules, Decision<Response>> rule) {
        return change(
                request.key().resource(),
                (look, since) -> rule.apply(new Rules(
                        look.live(),
                        request,
                        since,
                        seconds -> holding(request.key().resource(), seconds))));
    }

    /** The rest of the readers is stored again, for as long as before. */
    boolean delete(Key key) {
        clock.meet(key.resource());
        return change(key.resource(), (look, since) -> Rules.delete(look.listed(), key));
    }

    private <T> T change(String resource, BiFunction<ItemSnapshot, Long, Decision<T>> rule) {
        return turns.inTurn(resource, () -> changeNow(resource, rule));
    }

    private <T> T changeNow(String resource, BiFunction<ItemSnapshot, Long, Decision<T>> rule) {
        Items items = items(resource);
        long end = System.nanoTime() + RETRY_NANOS;
        for (int response = 0; ; response++) {
            long since = System.nanoTime();
            ItemSnapshot look = items.look();
            Decision<T> decision = rule.apply(look, since);
            if (items.write(look, decision, seconds -> holding(resource, seconds))) {
                return decision.answer();
            }
            if (System.nanoTime() - end > 0) {
                throw new LockStorageException(
                        resource, "others changed it again and again, for " + Duration.ofNanos(RETRY_NANOS), null);
            }
            pause(response);
        }
    }

    /** Others are in other stores: pauses that differ and grow let one of them through. */
    private static void pause(int response) {
        long bound = Math.min(LONGEST_PAUSE_NANOS, 500_000L << Math.min(response, 10));
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(bound + 1));
    }

    Optional<Response.Granted> find(Key key) {
        clock.meet(key.resource());
        long since = System.nanoTime();
        ItemSnapshot look = items(key.resource()).look();
        return look.holding(OwnerHash.of(key)).map(holding -> {
            Duration left = clock.leftUntil(key.resource(), holding.end());
            LockMode mode = look.listed().writer().isPresent() ? LockMode.EXCLUSIVE : LockMode.SHARED;
            return new Response.Granted(
                    mode, OptionalLong.empty(), Lease.timed(since, left.isZero() ? UNCERTAIN : left));
        });
    }

    List<Holder> holders(String resource) {
        clock.meet(resource);
        ItemSnapshot look = items(resource).look();
        List<Holder> holders = new ArrayList<>();
        look.live().writer().ifPresent(one -> holders.add(holder(resource, LockMode.EXCLUSIVE, one.holding())));
        look.live().readers().stream()
                .flatMap(one -> look.holding(one.owner()).stream())
                .forEach(holding -> holders.add(holder(resource, LockMode.SHARED, holding)));
        return holders;
    }

    private Holder holder(String resource, LockMode mode, HoldRecord holding) {
        return new Holder(
                mode,
                OptionalLong.empty(),
                Optional.of(clock.leftUntil(resource, holding.end())),
                Optional.of(holding.process()));
    }

    private Items items(String resource) {
        return new Items(link, clock, resource, ItemName.of(prefix, resource));
    }

    private HoldRecord holding(String resource, int seconds) {
        return new HoldRecord(clock.endIn(resource, seconds), LocalProcess.description());
    }
}
