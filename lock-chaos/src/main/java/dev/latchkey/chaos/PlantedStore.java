package dev.latchkey.chaos;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StoreProvider;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A sound store with one planted {@link Defect}, which strikes now and then. */
final class PlantedStore implements ExpiringStore, BlockingStore, SharedStore {

    private static final String SCHEME = "planted";

    private static final Duration TOO_LONG = Duration.ofMillis(200);
    private static final Duration NEXT_LOOK = Duration.ofMillis(1_500);

    private final Defect defect;
    private final PersistingStore sound;
    private final ExpiringStore expiring;
    private final BlockingStore blocking;
    private final NewestFirst newestFirst;
    private final Map<String, Response.Granted> last = new ConcurrentHashMap<>();

    private PlantedStore(Defect defect, PersistingStore sound) {
        this.defect = defect;
        this.sound = sound;
        this.expiring = sound.capability(ExpiringStore.class).orElseThrow();
        this.blocking = sound.capability(BlockingStore.class).orElseThrow();
        this.newestFirst = new NewestFirst(blocking, () -> strikes(Defect.SERVES_NEWEST_FIRST));
    }

    static String dsn(Defect defect, String sound) {
        return SCHEME + ":" + defect + ":" + sound;
    }

    private boolean strikes(Defect kind) {
        return defect == kind && ThreadLocalRandom.current().nextInt(kind.oneOf()) == 0;
    }

    @Override
    public Response save(Request request) {
        failForNothing(request.key());
        return spoilt(request, sound.save(known(request)));
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        failForNothing(request.key());
        if (strikes(Defect.GRANTS_TWICE)) {
            Response.Granted earlier = last.get(request.key().resource());
            if (earlier != null) {
                return new Response.Granted(
                        request.mode(), earlier.fencingToken(), Lease.timed(System.nanoTime(), request.ttl()));
            }
        }
        Response response = defect == Defect.SERVES_NEWEST_FIRST
                ? newestFirst.waitAndSave(request, maxWait, withdrawn)
                : blocking.waitAndSave(request, maxWait, withdrawn);
        if (response instanceof Response.Granted && strikes(Defect.TELLS_LATE)) {
            LockSupport.parkNanos(NEXT_LOOK.toNanos());
        }
        return spoilt(request, response);
    }

    private void failForNothing(Key key) {
        if (strikes(Defect.FAILS_FOR_NOTHING)) {
            throw new LockStorageException(key.resource(), "planted", null);
        }
    }

    private Response spoilt(Request request, Response response) {
        if (!(response instanceof Response.Granted granted)) {
            return response;
        }
        Response.Granted earlier = granted.fencingToken().isPresent()
                ? last.put(request.key().resource(), granted)
                : last.get(request.key().resource());
        reviveLater(request.key(), granted.lease().ttl());
        if (strikes(Defect.BELIEVES_LONGER)) {
            return with(granted, granted.fencingToken(), granted.lease().ttl().plus(TOO_LONG));
        }
        if (earlier != null && granted.fencingToken().isPresent() && strikes(Defect.REPEATS_TOKEN)) {
            return with(granted, earlier.fencingToken(), granted.lease().ttl());
        }
        return granted;
    }

    private static Response with(Response.Granted granted, OptionalLong token, Duration ttl) {
        return new Response.Granted(
                granted.mode(), token, Lease.timed(granted.lease().since().orElseThrow(), ttl));
    }

    @Override
    public Response refresh(Request request) {
        if (strikes(Defect.LOSES_FOR_NOTHING)) {
            return new Response.Lost(LossReason.EXPIRED);
        }
        if (strikes(Defect.CONFIRMS_UNSENT_REFRESH)) {
            OptionalLong token =
                    request.key().held().map(Key.Held::fencingToken).orElse(OptionalLong.empty());
            return new Response.Granted(request.mode(), token, Lease.timed(System.nanoTime(), request.ttl()));
        }
        return expiring.refresh(known(request));
    }

    @Override
    public boolean delete(Key key) {
        if (strikes(Defect.DROPS_RELEASE)) {
            return true;
        }
        Key known = newestFirst.known(key);
        boolean wasHolder = sound.delete(known);
        if (strikes(Defect.HOLDS_AGAIN_AFTER_RELEASE)) {
            holdForNobody(known);
        }
        return wasHolder && !strikes(Defect.DENIES_RELEASE);
    }

    /** Of the short ones half come to their end. */
    private void reviveLater(Key key, Duration lease) {
        if (lease.compareTo(Workload.SHORT_LEASE) <= 0 && strikes(Defect.REVIVES_EXPIRED)) {
            var unused = CompletableFuture.runAsync(
                    () -> {
                        if (sound.find(key).isEmpty()) {
                            holdForNobody(key);
                        }
                    },
                    CompletableFuture.delayedExecutor(lease.toMillis() + 1, TimeUnit.MILLISECONDS));
        }
    }

    private Request known(Request request) {
        return request.with(newestFirst.known(request.key()));
    }

    private void holdForNobody(Key key) {
        Response unused = sound.save(new Request(
                key.claiming(Optional.empty()), LockMode.EXCLUSIVE, Workload.LONGEST_TTL, RetryIntent.ONCE));
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return sound.find(newestFirst.known(key));
    }

    /** Nothing that would go around the defects. */
    @Override
    public <T> Optional<T> capability(Class<T> type) {
        if (type == InspectableStore.class) {
            return sound.capability(type);
        }
        boolean isHere = type == ExpiringStore.class || type == BlockingStore.class || type == SharedStore.class;
        return isHere ? Optional.of(type.cast(this)) : Optional.empty();
    }

    @Override
    public void close() {
        sound.close();
    }

    /** Opens it as {@code planted:}, the defect, and the DSN of a sound store. */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of(SCHEME);
        }

        @Override
        public PersistingStore open(String dsn) {
            String[] parts = dsn.split(":", 3);
            return new PlantedStore(Defect.valueOf(parts[1]), StoreProvider.connect(parts[2]));
        }
    }
}
