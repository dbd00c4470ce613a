package dev.latchkey.memcached;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
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
            ServerTime time = clock.now(key.resource());
            ItemState held = ItemState.heldBy(new ItemState.Writer(OwnerHash.of(key), seconds, time.lasting(seconds)));
            if (items(key.resource()).add(held, time)) {
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
        String resource = request.key().resource();
        return change(
                resource,
                look -> clock.now(resource),
                attempt -> rule.apply(new Rules(attempt.look().live(), request, attempt.sinceNanos(), attempt.time())));
    }

    /** The rest of the readers is stored again, for as long as before. */
    boolean delete(Key key) {
        clock.meet(key.resource());
        return change(
                key.resource(),
                // What nobody holds any more is over by any clock.
                look -> look.listed().readers().size() > 1 ? clock.now(key.resource()) : ServerTime.UNKNOWN,
                attempt -> Rules.delete(attempt.look().listed(), key));
    }

    /** One try: what was found, when it was asked for, and the server's time for what is stored. */
    private record Attempt(ItemSnapshot look, long sinceNanos, ServerTime time) {}

    private <T> T change(
            String resource, Function<ItemSnapshot, ServerTime> time, Function<Attempt, Decision<T>> rule) {
        return turns.inTurn(resource, () -> changeNow(resource, time, rule));
    }

    private <T> T changeNow(
            String resource, Function<ItemSnapshot, ServerTime> time, Function<Attempt, Decision<T>> rule) {
        Items items = items(resource);
        long end = System.nanoTime() + RETRY_NANOS;
        for (int number = 0; ; number++) {
            long since = System.nanoTime();
            ItemSnapshot look = items.look();
            Attempt attempt = new Attempt(look, since, time.apply(look));
            Decision<T> decision = rule.apply(attempt);
            if (items.write(look, decision, attempt.time())) {
                return decision.answer();
            }
            if (System.nanoTime() - end > 0) {
                throw new LockStorageException(
                        resource, "others changed it again and again, for " + Duration.ofNanos(RETRY_NANOS), null);
            }
            pause(number);
        }
    }

    /** Others are in other stores: pauses that differ and grow let one of them through. */
    private static void pause(int attempt) {
        long bound = Math.min(LONGEST_PAUSE_NANOS, 500_000L << Math.min(attempt, 10));
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
        return new Items(link, resource, ItemName.of(prefix, resource));
    }
}
