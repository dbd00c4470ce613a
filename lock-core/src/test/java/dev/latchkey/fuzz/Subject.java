package dev.latchkey.fuzz;

import dev.latchkey.Glimpse;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Attempt;
import dev.latchkey.store.InMemoryStore;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A Lock under judgement: what it believes is compared with what the store grants, and what it tells with what was. */
final class Subject {

    /** What it was made with. */
    record Traits(
            boolean heard,
            boolean interrupts,
            boolean alarmed,
            boolean autoReleased,
            boolean minHeld,
            boolean received) {}

    private static final long SLACK = 1_000_000;

    private final World world;
    private final String name;
    private final InMemoryStore store;
    private final Place place;
    private final Lock lock;
    private final Glimpse glimpse;
    private final Traits traits;

    /** Tokens whose hold another Lock over the same key may have ended rightly. */
    private final Set<String> cut;

    private @Nullable Holding holding;
    private @Nullable Holding last;

    /** Calls under way that may end a hold. */
    private int letting;

    private int acquiring;
    private int calls;
    private int step;
    private boolean let;
    private boolean confirmed;
    private boolean shared;

    /** The token is given up: nothing is asked for it any more. */
    private @Nullable String ended;

    private @Nullable String inFlight;

    /** A factory, with how it reaches the store. */
    static final class Place {
        private final Border border;
        private final LockFactory factory;
        private boolean closing;

        Place(Border border) {
            this.border = border;
            this.factory = new LockFactory(border);
        }

        LockFactory factory() {
            return factory;
        }

        Border border() {
            return border;
        }

        boolean isClosing() {
            return closing;
        }

        void close() {
            closing = true;
            factory.close();
        }
    }

    Subject(World world, String name, InMemoryStore store, Place place, Lock lock, Traits traits, Set<String> cut) {
        this.world = world;
        this.name = name;
        this.store = store;
        this.place = place;
        this.lock = lock;
        this.glimpse = Glimpse.of(lock);
        this.traits = traits;
        this.cut = cut;
        this.confirmed = !traits.received();
    }

    Lock lock() {
        return lock;
    }

    Place place() {
        return place;
    }

    Key key() {
        return glimpse.key();
    }

    String name() {
        return name;
    }

    /** Another Lock has, or had, the same key: it may end what this one holds. */
    void share() {
        shared = true;
    }

    boolean isShared() {
        return shared;
    }

    /** Compares; after each step. */
    void check() {
        step++;
        follow();
        if (glimpse.isHeld()) {
            checkBelief();
        } else if (holding != null && traits.alarmed() && !place.isClosing() && world.now() - glimpse.end() > SLACK) {
            throw wrong(
                    "nobody was told at the end of the lease, " + (world.now() - glimpse.end()) / SLACK + " ms ago");
        }
        if (letting == 0) {
            let = false;
        }
    }

    private void follow() {
        Object current = glimpse.hold();
        Holding before = holding;
        if (before != null && !before.is(current)) {
            ended(before);
        }
        if (current != null && (before == null || !before.is(current))) {
            holding = new Holding(current, step, key().token());
            last = holding;
            confirmed = true;
            world.note("   " + name + " holds " + glimpse.mode() + " " + glimpse.fencingToken());
        }
    }

    private void ended(Holding before) {
        holding = null;
        LossReason loss = glimpse.loss();
        boolean closed =
                place.isClosing() && (traits.autoReleased() || (acquiring > 0 && before.begun() > acquiredSince));
        if (loss != null) {
            before.lost(step, loss);
            if (traits.interrupts()) {
                before.isShown();
            }
            world.note("   " + name + " has lost it: " + loss);
            checkReason(loss);
        } else if (letting > 0 || let || closed) {
            before.givenUp(step);
        } else {
            throw wrong("its hold ended, and nobody ended it");
        }
    }

    private void checkReason(LossReason loss) {
        if (loss == LossReason.RELEASED_ELSEWHERE && !shared && !traits.received()) {
            throw wrong("it is said to be released elsewhere, and nobody else had the key");
        }
        if (loss == LossReason.SESSION_LOST) {
            throw wrong("there is no session to be lost");
        }
    }

    private void checkBelief() {
        Holding believed = holding;
        if (believed == null || isCut()) {
            return;
        }
        Optional<Attempt.Granted> found = store.find(key());
        if (found.isEmpty()) {
            throw wrong("it believes to hold, and the store does not");
        }
        Attempt.Granted granted = found.get();
        long storeEnd =
                granted.lease().since().orElseThrow() + granted.lease().ttl().toNanos();
        if (glimpse.end() > storeEnd) {
            throw wrong("it believes " + (glimpse.end() - storeEnd) / SLACK + " ms longer than the store grants");
        }
        if (glimpse.mode() == LockMode.EXCLUSIVE
                && (granted.mode() != LockMode.EXCLUSIVE
                        || !granted.fencingToken().equals(glimpse.fencingToken()))) {
            throw wrong("it believes " + glimpse.mode() + " " + glimpse.fencingToken() + ", the store has "
                    + granted.mode() + " " + granted.fencingToken());
        }
    }

    /** After what the notifier had to do was done. */
    void checkTold() {
        Holding lost = last;
        if (traits.heard() && lost != null && lost.isLost() && !lost.isHeard() && !place.isClosing()) {
            throw wrong("its listener was not told of the loss");
        }
    }

    boolean believesExclusive() {
        return glimpse.isHeld() && glimpse.mode() == LockMode.EXCLUSIVE && !isCut();
    }

    boolean believes() {
        return glimpse.isHeld() && !isCut();
    }

    private boolean isCut() {
        return holding != null && cut.contains(holding.token());
    }

    /** For the listener. */
    void heard(LossReason reason) {
        follow();
        Holding of = last;
        world.note("   " + name + "'s listener hears " + reason);
        if (of == null || (holding == of && glimpse.isHeld())) {
            throw wrong("its listener was told of a loss, and nothing was lost");
        }
        if (of.hear() > 1) {
            throw wrong("its listener was told twice");
        }
        if (of.reason() != null && of.reason() != reason) {
            throw wrong("its listener was told " + reason + ", but it was " + of.reason());
        }
    }

    private int acquiredSince;

    /** A call has shown that nothing is held any more. */
    void shows() {
        if (last != null && last.isLost()) {
            last.isShown();
        }
    }

    /** What one call has seen. */
    final class Call {
        private final int begun = step;
        private final @Nullable Holding before;
        private final boolean ends;
        private final boolean acquires;
        private final boolean wasConfirmed = confirmed;
        private final boolean alone;
        private final @Nullable String token;

        Call(boolean ends, boolean acquires) {
            check();
            this.ends = ends;
            this.acquires = acquires;
            this.before = last;
            this.alone = calls++ == 0;
            this.token = holding == null ? null : holding.token();
            if (ends) {
                letting++;
                let = true;
            }
            if (acquires) {
                if (acquiring++ == 0) {
                    acquiredSince = step;
                }
                ended = null;
            }
        }

        /** The loss that happened before this call, and nobody was told of. */
        private boolean isNews() {
            return before != null && before == last && before.isLostBefore(begun) && !before.isToldAtAll();
        }

        private boolean toldBefore;

        void begins() {
            toldBefore = before == null || !before.isLostBefore(begun) || before.isToldAtAll();
        }

        void returned() {
            end();
            if (acquires && alone && !toldBefore && isNews()) {
                throw wrong("it was acquired again over a loss that nobody was told of");
            }
            if (acquires && last != null && place.isClosing()) {
                // What was granted as the factory closed was given back before anybody saw it, and the loss before is
                // forgotten.
                last.isThrown();
            }
        }

        void returnedFromClose() {
            end();
            if (alone && before != null && before == last && before.isLostBefore(begun) && !before.wasThrown()) {
                throw wrong("it was closed silently after a loss that no call has thrown");
            }
        }

        void threw(LockLostException e) {
            end();
            Holding told = last;
            boolean sinceLost = told != null && told.isLost();
            boolean byRelease = ends && told != null && told.endedSince(begun);
            // What the key said was never confirmed: another thread may have acquired it anew meanwhile.
            boolean neverHeld = !wasConfirmed;
            boolean alsoBefore = before != null && (before.isLost() || before.endedSince(begun));
            if (!sinceLost && !byRelease && !neverHeld && !alsoBefore) {
                throw wrong("it threw " + e.reason() + ", and nothing was lost");
            }
            if (told != null && before == told && alone) {
                if (ends && told.wasThrown()) {
                    throw wrong("close() threw a loss that had been thrown before");
                }
                if (acquires && toldBefore && told.isLostBefore(begun)) {
                    throw wrong("an acquire threw a loss that had been told before");
                }
                checkReason(e.reason());
            }
            if (told != null && told.isLost()) {
                told.isThrown();
            }
        }

        void failed() {
            end();
        }

        private void end() {
            check();
            calls--;
            acquiring -= acquires ? 1 : 0;
            if (ends) {
                letting--;
                if (!shared && token != null && token.equals(inFlight)) {
                    throw wrong("a request is still in flight for what was given up");
                }
                if (acquiring == 0) {
                    ended = token;
                }
            }
        }
    }

    void sent(String operation, Key key) {
        if (operation.startsWith("refresh")) {
            if (!shared && key.token().equals(ended)) {
                throw wrong("what was given up is renewed");
            }
            inFlight = key.token();
        }
    }

    void answered(String operation, Key key) {
        if (operation.startsWith("refresh") && key.token().equals(inFlight)) {
            inFlight = null;
        }
    }

    Violation wrong(String what) {
        return new Violation(name + ": " + what);
    }
}
