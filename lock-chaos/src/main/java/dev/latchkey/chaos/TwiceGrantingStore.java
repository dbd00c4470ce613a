package dev.latchkey.chaos;

import dev.latchkey.Key;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.StoreProvider;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/** The planted defect: now and then it grants what somebody else holds, as a store does whose check and write are two steps. */
final class TwiceGrantingStore implements ExpiringStore {

    static final String SCHEME = "twice:";

    /** Of so many conflicts one is a grant. */
    private static final int ONE_OF = 4;

    private final PersistingStore sound;
    private final ExpiringStore expiring;
    private final Map<String, Attempt.Granted> granted = new ConcurrentHashMap<>();

    private TwiceGrantingStore(PersistingStore sound) {
        this.sound = sound;
        this.expiring = sound.capability(ExpiringStore.class).orElseThrow();
    }

    @Override
    public Attempt save(Request request) {
        long since = System.nanoTime();
        Attempt answer = sound.save(request);
        if (answer instanceof Attempt.Granted grant) {
            granted.put(request.key().resource(), grant);
            return grant;
        }
        Attempt.Granted earlier = granted.get(request.key().resource());
        boolean spoilt = answer instanceof Attempt.Conflicted
                && ThreadLocalRandom.current().nextInt(ONE_OF) == 0;
        return spoilt && earlier != null ? grantedAgain(request, earlier, since) : answer;
    }

    private static Attempt grantedAgain(Request request, Attempt.Granted earlier, long since) {
        Duration ttl = request.ttl();
        OptionalLong token = earlier.fencingToken();
        return new Attempt.Granted(request.mode(), token, Lease.timed(since, ttl));
    }

    @Override
    public Attempt refresh(Request request) {
        return expiring.refresh(request);
    }

    @Override
    public boolean delete(Key key) {
        return sound.delete(key);
    }

    @Override
    public Optional<Attempt.Granted> find(Key key) {
        return sound.find(key);
    }

    @Override
    public void close() {
        sound.close();
    }

    /** Opens it as {@code twice:} and the DSN of a sound store. */
    public static final class Provider implements StoreProvider {

        /** For {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("twice");
        }

        @Override
        public PersistingStore open(String dsn) {
            return new TwiceGrantingStore(StoreProvider.connect(dsn.substring(SCHEME.length())));
        }
    }
}
