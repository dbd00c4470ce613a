package dev.latchkey.chaos;

import dev.latchkey.Lock;
import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/** One thread of a {@link Worker}: takes a lock, uses the register, renews, releases, and writes down what it believes. */
final class Actor {

    static final Duration LONGEST_TTL = Duration.ofSeconds(2);
    /** Longer than any {@link Promise#patience()}, so that the judge and not this ends a wait that is too long. */
    static final Duration MAX_WAIT = Duration.ofSeconds(45);

    private static final int SHORTEST_TTL_MILLIS = 500;

    private final String name;
    private final EventLog log;
    private final RegisterClient register;
    private final SplittableRandom random;
    private long holds;

    Actor(String name, EventLog log, RegisterClient register) {
        this.name = name;
        this.log = log;
        this.register = register;
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

    /**
     * One life of one Lock. Conflicts, losses and failures of the store are part of it.
     *
     * @return whether it was granted anything
     */
    boolean cycle(LockFactory locks) throws InterruptedException {
        String resource = Worker.RESOURCE + random.nextInt(Worker.RESOURCES);
        LockMode mode = random.nextInt(5) == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE;
        Duration ttl = Duration.ofMillis(random.nextInt(SHORTEST_TTL_MILLIS, (int) LONGEST_TTL.toMillis()));
        Lock lock = random.nextInt(8) == 0
                ? locks.lock(resource).ttl(ttl).autoRefresh().create()
                : locks.createLock(resource, ttl);
        Optional<Granted> granted = acquire(lock, resource, mode);
        if (granted.isPresent()) {
            use(lock, granted.get());
            release(lock, granted.get().hold());
        }
        LockSupport.parkNanos(random.nextInt(30_000_000));
        return granted.isPresent();
    }

    private Optional<Granted> acquire(Lock lock, String resource, LockMode mode) throws InterruptedException {
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
        Granted granted = new Granted(name + "#" + holds++, resource, mode, lock.fencingToken());
        OptionalLong end = end(lock, now);
        if (lock.isExpired()) {
            log.failed(name, now, "OverAtOnce");
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
            LockSupport.parkNanos(random.nextInt(random.nextInt(40) == 0 ? 1_500_000_000 : 15_000_000));
            long asked = random.nextInt(4) == 0 ? refresh(lock, granted.hold()) : System.nanoTime();
            believe(lock, granted.hold(), asked);
        }
        // With a token it does not look whether it may: the register does. Without one there is nothing else to look
        // at.
        if (read.isPresent() && (granted.token().isPresent() || !lock.isExpired())) {
            register.write(granted.resource(), granted.hold(), granted.token(), read.getAsLong());
        }
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
            lock.release();
        } catch (LockException e) {
            // Its lease, or its session, ends it.
        }
    }
}
