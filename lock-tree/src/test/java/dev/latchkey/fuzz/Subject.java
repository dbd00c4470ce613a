package dev.latchkey.fuzz;

import dev.latchkey.Glimpse;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
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

    /** Tokens whose hold a late request may have replaced in the store, so that it is not the one its Lock claims. */
    private final Set<String> takenLate;

    private @Nullable Holding holding;
    private @Nullable Holding last;
    private @Nullable Holding first;

    /** Calls under way that may end a hold. */
    private int letting;

    private int acquiring;
    private int step;
    private boolean confirmed;

    /** What a received key said was found to be over. */
    private boolean refuted;

    private boolean shared;

    /** When what is held was to end at the last look. */
    private long end;

    private int acquiredSince;

    /** What a request is in flight for, and who has asked. */
    private @Nullable Holding inFlight;

    private @Nullable Fiber asker;

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

    Subject(
            World world,
            String name,
            InMemoryStore store,
            Place place,
            Lock lock,
            Traits traits,
            Set<String> cut,
            Set<String> takenLate) {
        this.world = world;
        this.name = name;
        this.store = store;
        this.place = place;
        this.lock = lock;
        this.glimpse = Glimpse.of(lock);
        this.traits = traits;
        this.cut = cut;
        this.takenLate = takenLate;
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
        }
    }

    /** After what was due has happened. */
    void checkAlarm() {
        if (!glimpse.isHeld()
                && holding != null
                && traits.alarmed()
                && !place.isClosing()
                && world.now() - glimpse.end() > SLACK) {
            throw wrong(
                    "nobody was told at the end of the lease, " + (world.now() - glimpse.end()) / SLACK + " ms ago");
        }
    }

    /** Notes what has begun or ended, and by whom. */
    void follow() {
        Object current = glimpse.hold();
        Holding before = holding;
        if (before != null && !before.is(current)) {
            ended(before);
        }
        Holding lost = last;
        refuted |= lost == null && glimpse.loss() != null;
        if (current != null && (before == null || !before.is(current))) {
            if (lost != null && lost.isLost() && !lost.wasForgotten() && !lost.isToldAtAll()) {
                throw wrong("it was acquired again over a loss that nobody was told of");
            }
            holding = new Holding(current, step, key().token());
            last = holding;
            first = first == null ? holding : first;
            confirmed = true;
            interrupts(calling());
            world.note("   " + name + " holds " + glimpse.mode() + " " + glimpse.fencingToken());
        } else if (lost != null && lost.isLost() && !lost.wasForgotten() && glimpse.loss() == null) {
            forgotten(lost);
        }
        end = glimpse.end();
    }

    private void ended(Holding before) {
        holding = null;
        LossReason loss = glimpse.loss();
        boolean closed =
                place.isClosing() && (traits.autoReleased() || (acquiring > 0 && before.begun() > acquiredSince));
        if (loss != null) {
            before.lost(step, loss);
            if (before.interrupts(world.runningFiber()) || traits.heard()) {
                before.isShown();
            }
            world.note("   " + name + " has lost it: " + loss);
            checkReason(before, loss);
        } else if (letting > 0 || closed) {
            before.givenUp(step);
            Call by = calling();
            if (by != null && by.ends) {
                by.let = before;
                by.wasOver = world.now() >= end;
            }
        } else {
            throw wrong("its hold ended, and nobody ended it");
        }
    }

    /** The Lock was made free, which is for a release alone. */
    private void forgotten(Holding lost) {
        lost.isForgotten();
        Call by = calling();
        if (by != null && by.ends) {
            by.forgot = lost;
        } else if (letting == 0 && !place.isClosing()) {
            throw wrong("its loss was forgotten, and nobody released it");
        }
    }

    /** Who has acquired is interrupted; a hold of a received key that was only looked for, or refreshed, has nobody. */
    private void interrupts(@Nullable Call by) {
        if (holding != null && traits.interrupts() && by != null && by.acquires) {
            holding.hasWorker(world.running());
        }
    }

    /** The call that has gone on since the last look. */
    private @Nullable Call calling() {
        Call call = world.running().call();
        return call != null && call.subject() == this ? call : null;
    }

    private void checkReason(Holding lost, LossReason loss) {
        boolean isOfOneLock = !shared && !traits.received() && !takenLate.contains(lost.token());
        if (loss == LossReason.RELEASED_ELSEWHERE && isOfOneLock) {
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
        Optional<Response.Granted> found = store.find(key());
        if (found.isEmpty()) {
            throw wrong("it believes to hold, and the store does not");
        }
        Response.Granted granted = found.get();
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

    /** A call has shown that nothing is held any more. */
    void shows() {
        if (last != null && !glimpse.isHeld()) {
            last.isShown();
        }
    }

    /** Something is asked for the key; the hold it is about stays the same until it is answered. */
    void sent(String operation, Key key) {
        follow();
        Call call = calling();
        boolean keeps = operation.startsWith("refresh")
                || (operation.startsWith("save")
                        && key.held().isPresent()
                        && (operation.endsWith("SHARED") || key.held().get().mode() == LockMode.EXCLUSIVE));
        if (call != null && !operation.startsWith("delete") && !operation.startsWith("find")) {
            call.about = holding;
        }
        if (keeps && holding != null && holding.token().equals(key.token())) {
            if (inFlight == holding) {
                throw wrong("two requests are in flight for one hold");
            }
            inFlight = holding;
            asker = world.running();
        }
    }

    void answered(@Nullable Object answer) {
        Call call = calling();
        if (call != null) {
            call.answer = answer;
        }
        if (asker == world.running()) {
            asker = null;
            inFlight = null;
        }
    }

    /** Whether this token may be renewed: it is held. */
    boolean renews(Key key) {
        return glimpse.isHeld() && key().token().equals(key.token());
    }

    /** What one call has seen. */
    final class Call {
        private final int begun = step;
        private final boolean ends;
        private final boolean acquires;
        private final boolean wasConfirmed = confirmed;

        /** What the store was last asked about. */
        private @Nullable Holding about;

        /** What it gave up. */
        private @Nullable Holding let;

        private boolean wasOver;
        private @Nullable Object answer;

        /** A loss that nothing is left of since. */
        private @Nullable Holding forgot;

        Call(boolean ends, boolean acquires) {
            check();
            this.ends = ends;
            this.acquires = acquires;
            letting += ends ? 1 : 0;
            if (acquires && acquiring++ == 0) {
                acquiredSince = step;
            }
            world.running().setCall(this);
        }

        Subject subject() {
            return Subject.this;
        }

        /** Whether the store has granted what it was asked for last, and that is not over. */
        private boolean isGranted() {
            return answer instanceof Response.Granted granted
                    && world.now()
                            < granted.lease().since().orElseThrow()
                                    + granted.lease()
                                            .ttl()
                                            .multipliedBy(9)
                                            .dividedBy(10)
                                            .toNanos();
        }

        private boolean hasEndedALoss() {
            return forgot != null || wasOver;
        }

        void returned(@Nullable Object result) {
            end();
            if (!Boolean.FALSE.equals(result)) {
                interrupts(this);
            }
            if (ends && Boolean.TRUE.equals(result) && hasEndedALoss()) {
                throw wrong("it was released as if it had not been lost");
            }
        }

        void returnedFromClose() {
            end();
            if (wasOver || (forgot != null && !forgot.wasThrown())) {
                throw wrong("it was closed silently after a loss that no call has thrown");
            }
        }

        void threw(LockLostException e) {
            end();
            if (ends) {
                threwFromClose(e);
                return;
            }
            if (!wasConfirmed && about == null) {
                // What the key said was never confirmed: another thread may have acquired it anew meanwhile.
                if (!refuted && glimpse.isHeld() && holding == first && isGranted()) {
                    throw wrong("it threw " + e.reason() + " when the store had granted what it holds");
                }
                if (last != null && last.isLost()) {
                    last.isThrown();
                }
                return;
            }
            Holding told = about == null ? last : about;
            if (told == null || !(told.isLost() || (told.isGivenUp() && told.endedSince(begun)))) {
                throw wrong("it threw " + e.reason() + ", and nothing was lost");
            }
            if (acquires && told.isLostBefore(begun) && (told.wasForgotten() || told.isToldAtAll())) {
                throw wrong("an acquire threw a loss that had been told before");
            }
            checkSame(told, e.reason());
            told.isThrown();
        }

        private void threwFromClose(LockLostException e) {
            if (let == null && forgot == null && wasConfirmed) {
                throw wrong("close() threw " + e.reason() + ", and nothing was lost");
            }
            if (forgot != null) {
                if (forgot.wasThrown()) {
                    throw wrong("close() threw a loss that had been thrown before");
                }
                checkSame(forgot, e.reason());
            }
        }

        private void checkSame(Holding told, LossReason reason) {
            if (told.isLost() && told.reason() != reason) {
                throw wrong("it threw " + reason + ", but it was lost for " + told.reason());
            }
        }

        void failed(Exception e) {
            end();
            if (e instanceof LockStorageException && about != null && about.isLost() && !ends) {
                throw wrong("it threw " + e + ", though what it was about is lost");
            }
        }

        private void end() {
            check();
            world.running().setCall(null);
            acquiring -= acquires ? 1 : 0;
            letting -= ends ? 1 : 0;
            if (let != null && let == inFlight) {
                throw wrong("a request is still in flight for what was given up");
            }
        }
    }

    Violation wrong(String what) {
        return new Violation(name + ": " + what);
    }
}
