package dev.latchkey.chaos;

import dev.latchkey.Capability;
import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.chaos.RecordedHold.Granted;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/** One thread of a {@link Worker}: takes a lock, uses the register, renews, releases, and writes down what it believes. */
final class Actor {

    /** So often at most a hold that is promoted or demoted is that. */
    private static final int MOST_CHANGES = 3;

    private final ActorContext context;
    private final Workload workload;
    private final SplittableRandom random;
    private final EventLog log;
    private final Workload.Seat seat;
    private final RegisterClient register;
    private final ModeChanger modes;
    private final KeyTransfer keys;

    Actor(ActorContext context, Workload.Seat seat, RegisterClient register, KeyExchange keys) {
        this.context = context;
        this.workload = context.workload();
        this.random = context.random();
        this.log = context.log();
        this.seat = seat;
        this.register = register;
        this.modes = new ModeChanger(context);
        this.keys = new KeyTransfer(context, keys);
    }

    String name() {
        return context.name();
    }

    /** Whether it is to have a factory of its own for its next cycle. */
    boolean reconnects() {
        return workload.reconnects(random);
    }

    /**
     * One life of one Lock. Conflicts, losses and failures of the store are part of it.
     *
     * @return whether it was granted anything
     */
    boolean cycle(LockFactory locks) throws InterruptedException {
        boolean lingers = workload.lingers(random);
        Duration ttl = lingers ? workload.lingeringTtl(random) : workload.ttl(random);
        String resource = seat.resources().get(random.nextInt(seat.resources().size()));
        Lock lock = lock(locks, resource, ttl, lingers);
        Optional<RecordedHold> granted = acquire(lock, resource, ttl, mode(locks));
        if (granted.isPresent()) {
            RecordedHold held = granted.get();
            use(held);
            if (lingers) {
                linger(held);
            } else if (!seat.isPlain() && workload.changes(random) && locks.supports(Capability.SHARING)) {
                changeAndUse(held);
            }
            boolean givesAway = !lingers && !seat.isPlain() && workload.transfers(random);
            if (!(givesAway && keys.give(held))) {
                held.release();
            }
        }
        if (!seat.longestPause().isZero()) {
            LockSupport.parkNanos(random.nextLong(seat.longestPause().toNanos()));
        }
        return granted.isPresent();
    }

    private Lock lock(LockFactory locks, String resource, Duration ttl, boolean lingers) {
        LockBuilder builder = locks.lock(resource).ttl(ttl);
        if (workload.isRenewed(random, lingers)) {
            builder.autoRefresh();
        }
        if (!seat.isPlain() && locks.supports(Capability.STICKY) && workload.isSticky(random)) {
            builder.sticky(workload.kept(random));
        }
        return builder.create();
    }

    /** A store that does not share grants the exclusive lock, which the judge would take for a shared one. */
    private LockMode mode(LockFactory locks) {
        return workload.isShared(random) && locks.supports(Capability.SHARING) ? LockMode.SHARED : LockMode.EXCLUSIVE;
    }

    private Optional<RecordedHold> acquire(Lock lock, String resource, Duration ttl, LockMode mode)
            throws InterruptedException {
        Duration maxWait = workload.maxWait(random);
        log.asked(context.name(), resource, mode, System.nanoTime(), maxWait);
        try {
            if (context.request(lock, mode, maxWait)) {
                return granted(lock, resource, mode, ttl);
            }
            log.refused(context.name(), System.nanoTime());
        } catch (LockLostException | LockStorageException e) {
            log.failed(context.name(), System.nanoTime(), e.toString());
            releaseAtTimes(lock);
        } catch (InterruptedException e) {
            log.interrupted(context.name(), System.nanoTime());
            context.accept(e);
            releaseAtTimes(lock);
        }
        return Optional.empty();
    }

    private Optional<RecordedHold> granted(Lock lock, String resource, LockMode mode, Duration ttl) {
        long now = System.nanoTime();
        Granted granted = new Granted(context.nextHold(), resource, mode, lock.fencingToken());
        OptionalLong end = RecordedHold.end(lock, now);
        if (!lock.isExpired()) {
            log.granted(context.name(), granted.id(), granted.token(), now, end);
            return Optional.of(new RecordedHold(lock, granted, context));
        }
        if (ttl.compareTo(Workload.SHORT_LEASE) <= 0) {
            log.late(context.name(), now);
        } else {
            log.failed(context.name(), now, "OverAtOnce");
        }
        return Optional.empty();
    }

    /** As careful programs do, who do not know what they hold; others leave it to the factory. */
    private void releaseAtTimes(Lock lock) {
        if (random.nextBoolean()) {
            try {
                var unused = lock.release();
            } catch (LockException e) {
                // Its lease, or its session, ends it.
            }
        }
    }

    /** Reads, thinks, and writes what it read plus one: nothing but the lock keeps others from doing so meanwhile. */
    private void use(RecordedHold held) {
        Granted granted = held.now();
        OptionalLong read = granted.mode() == LockMode.SHARED
                ? OptionalLong.empty()
                : register.read(granted.resource(), granted.id(), granted.token());
        for (int i = random.nextInt(3); i >= 0; i--) {
            LockSupport.parkNanos(workload.stepNanos(random));
            if (random.nextInt(4) == 0) {
                held.refresh();
            } else {
                held.believe(System.nanoTime());
            }
        }
        // With a token it does not look whether it may: the register does. Without one there is nothing else to look
        // at.
        if (read.isPresent() && (granted.token().isPresent() || !held.lock().isExpired())) {
            register.write(granted.resource(), granted.id(), granted.token(), read.getAsLong());
        }
    }

    /** Holds it until about the end of its lease, with rivals waiting; then renews it, or not. */
    private void linger(RecordedHold held) {
        Lock lock = held.lock();
        long left = lock.remainingLifetime().orElse(Workload.SHORT_LEASE).toNanos();
        LockSupport.parkNanos(left + workload.nanosAfterTheEnd(random));
        if (random.nextBoolean() && !lock.isExpired()) {
            held.refresh();
            LockSupport.parkNanos(Math.abs(workload.nanosAfterTheEnd(random)));
        }
    }

    /** To and fro. Not of a lease that is held to its end: of the end of what it was it may be told when it has become another. */
    private void changeAndUse(RecordedHold held) throws InterruptedException {
        try {
            for (int left = 1 + random.nextInt(MOST_CHANGES); left > 0 && modes.change(held); left--) {
                use(held);
            }
        } catch (InterruptedException e) {
            context.accept(e);
        }
    }

    /** Goes on with what another process held. */
    void receive(LockFactory locks, KeyExchange.Offer given) {
        Optional<RecordedHold> received = keys.receive(locks, given);
        if (received.isPresent()) {
            use(received.get());
            received.get().release();
        }
    }
}
