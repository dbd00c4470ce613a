package dev.latchkey.chaos;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.UnserializableKeyException;
import dev.latchkey.chaos.EventLog.Change;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/** One thread of a {@link Worker}: takes a lock, uses the register, renews, releases, and writes down what it believes. */
final class Actor {

    static final Duration LONGEST_TTL = Duration.ofSeconds(3);
    /** Longer than any {@link Guarantees#patience()}, so that the judge and not this ends a wait that is too long. */
    static final Duration MAX_WAIT = Duration.ofSeconds(60);

    private static final Duration SHORTEST_TTL = Duration.ofMillis(500);

    /** Of so many holds one is held until its lease is about to be over, or is over: that is where a rival gets in. */
    private static final int LINGERS_ONE_OF = 3;

    private static final Duration SHORTEST_LINGERING = Duration.ofMillis(60);
    /** The longest TTL of those. */
    static final Duration LONGEST_LINGERING = Duration.ofMillis(250);

    private static final long AROUND_THE_END_NANOS = 40_000_000;

    /** Of so many holds one is promoted or demoted, where that is the habit. */
    private static final int CHANGES_ONE_OF = 3;

    private static final int MOST_CHANGES = 3;

    /** How long a promotion waits for readers to leave, if it waits: some of its own leases end meanwhile. */
    private static final Duration LONGEST_PROMOTION = Duration.ofSeconds(1);

    /** Of so many holds one is given to another process, where it is the habit to change what is held. */
    private static final int TRANSFERS_ONE_OF = 4;

    /** What it does with what it holds: of some locks the order and the hand-over are judged with nothing but plain holds. */
    enum Habit {
        KEEPS_ITS_MODE,
        CHANGES_ITS_MODE
    }

    private final String name;
    private final String resource;
    private final Habit habit;
    private final Duration longestPause;
    private final EventLog log;
    private final RegisterClient register;
    private final KeyExchange keys;
    private final SplittableRandom random;
    private long holds;

    Actor(
            String name,
            String resource,
            Duration longestPause,
            Habit habit,
            EventLog log,
            RegisterClient register,
            KeyExchange keys) {
        this.name = name;
        this.habit = habit;
        this.longestPause = longestPause;
        this.resource = resource;
        this.log = log;
        this.register = register;
        this.keys = keys;
        this.random = new SplittableRandom(name.hashCode());
    }

    String name() {
        return name;
    }

    /** A number to decide something by. */
    int draw(int bound) {
        return random.nextInt(bound);
    }

    /** What was granted; the Lock itself forgets its token with its hold. */
    private record Granted(String hold, String resource, LockMode mode, OptionalLong token) {}

    /** The name of a hold in its mode of now, for the thread that is told of its loss as well. */
    private static final class Current {

        private volatile String hold;

        Current(String hold) {
            this.hold = hold;
        }
    }

    /**
     * One life of one Lock. Conflicts, losses and failures of the store are part of it.
     *
     * @return whether it was granted anything
     */
    boolean cycle(LockFactory locks) throws InterruptedException {
        LockMode mode = random.nextInt(5) == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE;
        boolean lingers = random.nextInt(LINGERS_ONE_OF) == 0;
        Duration ttl = lingers ? between(SHORTEST_LINGERING, LONGEST_LINGERING) : between(SHORTEST_TTL, LONGEST_TTL);
        Lock lock = lock(locks, ttl);
        Optional<Granted> granted = acquire(lock, mode, ttl);
        if (granted.isPresent()) {
            Current held = new Current(granted.get().hold());
            lock.onLost(reason -> log.lost(held.hold, System.nanoTime()));
            use(lock, granted.get());
            boolean changes = !lingers && habit == Habit.CHANGES_ITS_MODE;
            if (lingers) {
                linger(lock, held.hold);
            } else if (changes && random.nextInt(CHANGES_ONE_OF) == 0) {
                changeAndUse(lock, granted.get(), held);
            }
            if (!(changes && random.nextInt(TRANSFERS_ONE_OF) == 0 && transfer(lock, held.hold))) {
                release(lock, held.hold);
            }
        }
        LockSupport.parkNanos(random.nextLong(longestPause.toNanos()));
        return granted.isPresent();
    }

    private Duration between(Duration shortest, Duration longest) {
        return Duration.ofMillis(random.nextLong(shortest.toMillis(), longest.toMillis()));
    }

    private Lock lock(LockFactory locks, Duration ttl) {
        return !isShort(ttl) && random.nextInt(8) == 0
                ? locks.lock(resource).ttl(ttl).autoRefresh().create()
                : locks.createLock(resource, ttl);
    }

    private static boolean isShort(Duration ttl) {
        return ttl.compareTo(SHORTEST_TTL) < 0;
    }

    private Optional<Granted> acquire(Lock lock, LockMode mode, Duration ttl) throws InterruptedException {
        log.asked(name, resource, mode, System.nanoTime());
        try {
            if (!(mode == LockMode.SHARED ? lock.tryAcquireShared(MAX_WAIT) : lock.tryAcquire(MAX_WAIT))) {
                log.refused(name, System.nanoTime());
                return Optional.empty();
            }
        } catch (LockLostException | LockStorageException e) {
            log.failed(name, System.nanoTime(), e.toString());
            return Optional.empty();
        }
        long now = System.nanoTime();
        Granted granted = new Granted(nextHold(), resource, mode, lock.fencingToken());
        OptionalLong end = end(lock, now);
        if (lock.isExpired()) {
            if (isShort(ttl)) {
                log.late(name, now);
            } else {
                log.failed(name, now, "OverAtOnce");
            }
            return Optional.empty();
        }
        log.granted(name, granted.hold(), granted.token(), now, end);
        return Optional.of(granted);
    }

    /** Reads, thinks, and writes what it read plus one: nothing but the lock keeps others from doing so meanwhile. */
    private void use(Lock lock, Granted granted) {
        OptionalLong read = granted.mode() == LockMode.SHARED
                ? OptionalLong.empty()
                : register.read(granted.resource(), granted.hold(), granted.token());
        for (int i = random.nextInt(3); i >= 0; i--) {
            LockSupport.parkNanos(random.nextInt(15_000_000));
            long asked = random.nextInt(4) == 0 ? refresh(lock, granted.hold()) : System.nanoTime();
            believe(lock, granted.hold(), asked);
        }
        // With a token it does not look whether it may: the register does. Without one there is nothing else to look
        // at.
        if (read.isPresent() && (granted.token().isPresent() || !lock.isExpired())) {
            register.write(granted.resource(), granted.hold(), granted.token(), read.getAsLong());
        }
    }

    /** Holds it until about the end of its lease, with rivals waiting; then renews it, or not. */
    private void linger(Lock lock, String hold) {
        long left = lock.remainingLifetime().orElse(LONGEST_LINGERING).toNanos();
        LockSupport.parkNanos(left + random.nextLong(-AROUND_THE_END_NANOS, AROUND_THE_END_NANOS));
        if (random.nextBoolean() && !lock.isExpired()) {
            long asked = refresh(lock, hold);
            believe(lock, hold, asked);
            LockSupport.parkNanos(random.nextLong(AROUND_THE_END_NANOS));
        }
    }

    /** To and fro. Not of a short lease: of the end of what it was it may be told when it has become another. */
    private void changeAndUse(Lock lock, Granted first, Current held) throws InterruptedException {
        Optional<Granted> next = Optional.of(first);
        for (int left = 1 + random.nextInt(MOST_CHANGES); left > 0 && next.isPresent(); left--) {
            next = change(lock, next.get());
            next.ifPresent(granted -> goOn(lock, granted, held));
        }
    }

    /** Whoever demotes stops writing before it asks; whoever promotes reads on until it has the answer. */
    private Optional<Granted> change(Lock lock, Granted before) throws InterruptedException {
        long asked = System.nanoTime();
        if (lock.isExpired()) {
            return Optional.empty();
        }
        log.changing(before.hold(), asked);
        LockMode mode = before.mode() == LockMode.SHARED ? LockMode.EXCLUSIVE : LockMode.SHARED;
        if (mode == LockMode.SHARED) {
            log.ended(before.hold(), asked);
        }
        try {
            boolean isGranted = mode == LockMode.SHARED ? lock.tryAcquireShared() : promote(lock, before.hold());
            return isGranted ? changed(lock, before.hold(), mode, asked) : Optional.empty();
        } catch (LockLostException e) {
            log.lost(before.hold(), System.nanoTime());
        } catch (LockStorageException e) {
            // A reader reads on. Who wrote believes in nothing until it has released.
        }
        return Optional.empty();
    }

    /** Every other time it waits for the other readers, and reads on meanwhile; also if it has waited in vain. */
    private boolean promote(Lock lock, String hold) throws InterruptedException {
        if (random.nextBoolean()) {
            return lock.tryAcquire();
        }
        long asked = System.nanoTime();
        try {
            if (lock.tryAcquire(LONGEST_PROMOTION)) {
                return true;
            }
            believe(lock, hold, asked);
            return false;
        } finally {
            log.changing(hold, System.nanoTime());
        }
    }

    private Optional<Granted> changed(Lock lock, String before, LockMode mode, long asked) {
        long now = System.nanoTime();
        Granted next = new Granted(nextHold(), resource, mode, lock.fencingToken());
        OptionalLong end = end(lock, now);
        if (lock.isExpired()) {
            return Optional.empty();
        }
        log.changed(new Change(before, next.hold(), mode), next.token(), asked, now, end);
        return Optional.of(next);
    }

    private void goOn(Lock lock, Granted next, Current held) {
        held.hold = next.hold();
        if (lock.isExpired()) {
            // Whoever was told of it a moment ago has written it down of the hold before.
            log.lost(next.hold(), System.nanoTime());
        }
        use(lock, next);
    }

    /** Gives the key away, if that can be. What is believed or found of the hold afterwards is written down: nothing should be. */
    private boolean transfer(Lock lock, String hold) {
        long now = System.nanoTime();
        if (lock.isExpired() || isBoundToItsProcess(lock.key())) {
            return false;
        }
        log.ended(hold, now);
        Key key;
        try {
            key = lock.transferKey();
        } catch (IllegalStateException | LockStorageException e) {
            // Over since it was looked at, or a demotion was not answered, which its receiver would be in for.
            return false;
        }
        log.transferred(hold, now);
        keys.give(hold, key);
        believe(lock, hold, now);
        if (lock.release()) {
            log.released(hold, System.nanoTime(), true);
        }
        return true;
    }

    private static boolean isBoundToItsProcess(Key key) {
        try {
            return key.serialize().isEmpty();
        } catch (UnserializableKeyException e) {
            return true;
        }
    }

    /** Goes on with what another process held. */
    void receive(LockFactory locks, KeyExchange.Offer given) {
        Lock lock =
                locks.lock(given.key()).ttl(between(SHORTEST_TTL, LONGEST_TTL)).create();
        Optional<Granted> received = received(lock, given);
        if (received.isPresent()) {
            String hold = received.get().hold();
            lock.onLost(reason -> log.lost(hold, System.nanoTime()));
            use(lock, received.get());
            release(lock, hold);
        }
    }

    /** Asks whether it is held still. */
    private Optional<Granted> received(Lock lock, KeyExchange.Offer given) {
        long asked = System.nanoTime();
        try {
            if (random.nextBoolean()) {
                lock.refresh();
            } else if (!lock.isAcquired()) {
                // Not judged: Memcached may not know for how long the last second of a lease is held, and then says no.
                return Optional.empty();
            }
        } catch (LockLostException e) {
            log.notReceived(given.hold(), System.nanoTime());
            return Optional.empty();
        } catch (LockStorageException e) {
            // Whatever is held is over with its lease.
            return Optional.empty();
        }
        long now = System.nanoTime();
        LockMode mode = lock.key().held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE);
        Granted received = new Granted(nextHold(), given.key().resource(), mode, lock.fencingToken());
        OptionalLong end = end(lock, now);
        if (lock.isExpired()) {
            return Optional.empty();
        }
        log.received(
                new Change(given.hold(), received.hold(), mode),
                received.resource(),
                received.token(),
                asked,
                now,
                end);
        return Optional.of(received);
    }

    private String nextHold() {
        return name + "#" + holds++;
    }

    private long refresh(Lock lock, String hold) {
        long asked = System.nanoTime();
        try {
            lock.refresh();
        } catch (LockLostException e) {
            log.lost(hold, System.nanoTime());
        } catch (LockStorageException e) {
            // Held as long as it was. The next line of the log says so.
        }
        return asked;
    }

    /** The time is read first: a freeze in between makes the belief shorter than it was, never longer. */
    private void believe(Lock lock, String hold, long asked) {
        long now = System.nanoTime();
        OptionalLong end = end(lock, now);
        if (!lock.isExpired() && (end.isEmpty() || end.getAsLong() > now)) {
            log.kept(hold, asked, now, end);
        }
    }

    private static OptionalLong end(Lock lock, long now) {
        return lock.remainingLifetime()
                .map(left -> OptionalLong.of(now + left.toNanos()))
                .orElseGet(OptionalLong::empty);
    }

    private void release(Lock lock, String hold) {
        long now = System.nanoTime();
        if (!lock.isExpired()) {
            log.ended(hold, now);
        }
        try {
            boolean wasHeld = lock.release();
            log.released(hold, System.nanoTime(), wasHeld);
        } catch (LockException e) {
            // Its lease, or its session, ends it.
        }
    }
}
