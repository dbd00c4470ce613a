package dev.latchkey.fuzz;

import dev.latchkey.Glimpse;
import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeGlimpse;
import dev.latchkey.tree.TreeLocks;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An editor of a tree under judgement: what its locks believe is compared with what the store grants. */
final class Editor {

    private static final long MILLI = 1_000_000;

    private final World world;
    private final String name;
    private final InMemoryStore store;
    private final TreeEditor locks;
    private final TreeGlimpse glimpse;
    private final Glimpse lock;
    private final Ledger ledger;
    private final Desk desk;
    private final Claims claims;

    /** Tokens of what this editor has ever held: in a ledger that it shares, the others are of other editors. */
    private final Set<String> own = new HashSet<>();

    private @Nullable Object hold;
    private @Nullable LossReason loss;
    private int losses;
    private int heard;

    Editor(World world, String name, InMemoryStore store, TreeLocks locks, Ledger ledger, Desk desk, boolean mustKnow) {
        this.world = world;
        this.name = name;
        this.store = store;
        this.locks = locks.createEditor(desk.view()::parents);
        this.locks.onLost(this::heard);
        this.glimpse = TreeGlimpse.of(this.locks, desk.view()::parents);
        this.lock = glimpse.lock();
        this.ledger = ledger;
        this.desk = desk;
        this.claims = new Claims(glimpse, desk.view(), mustKnow);
    }

    TreeEditor locks() {
        return locks;
    }

    String name() {
        return name;
    }

    Desk desk() {
        return desk;
    }

    Ledger ledger() {
        return ledger;
    }

    /** Compares; after each step. */
    void check() {
        follow();
        if (ledger.isShared()) {
            glimpse.keys().values().forEach(key -> own.add(key.token()));
        }
        if (believes()) {
            glimpse.keys().values().forEach(this::checkBelief);
            claims.problem().ifPresent(problem -> {
                throw wrong(problem);
            });
        }
    }

    private void follow() {
        Object now = lock.hold();
        LossReason why = lock.loss();
        if (why != null && (loss == null || hold != null)) {
            losses++;
            desk.loses();
            world.note("   " + name + " has lost all: " + why);
        } else if (hold != null && now != hold && why == null && !desk.mayEnd()) {
            throw wrong("what it held ended, and nobody ended it");
        } else if (loss != null && why == null) {
            // It is over with a release.
            desk.isTold();
        }
        hold = now;
        loss = why;
    }

    /** As the public API tells it, but without being told. */
    boolean believes() {
        return !glimpse.keys().isEmpty() && !isLost();
    }

    boolean isLost() {
        return lock.loss() != null || (lock.hold() != null && !lock.isHeld());
    }

    private void checkBelief(Key key) {
        Optional<Response.Granted> found = store.find(key);
        if (found.isEmpty()) {
            throw wrong("it believes to hold " + key.resource() + ", and the store does not");
        }
        Response.Granted granted = found.get();
        long end = granted.lease().since().orElseThrow() + granted.lease().ttl().toNanos();
        if (lock.end() > end) {
            throw wrong("it believes to hold " + key.resource() + " "
                    + (lock.hold() == null
                            ? "for ever"
                            : (lock.end() - end) / MILLI + " ms longer than the store grants"));
        }
        if (mode(key) == LockMode.EXCLUSIVE
                && (granted.mode() != LockMode.EXCLUSIVE
                        || !granted.fencingToken()
                                .equals(key.held().orElseThrow().fencingToken()))) {
            throw wrong(
                    "it believes to hold " + key.resource() + " as " + key.held() + ", and the store has " + granted);
        }
    }

    private static LockMode mode(Key key) {
        return key.held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE);
    }

    /** After a check. */
    boolean mayChange(int id) {
        return believes() && claims.mayChange(id);
    }

    boolean mayRelyOn(int id) {
        return believes() && claims.mayRelyOn(id);
    }

    /** Not only what covers it. */
    boolean holdsItself(int id) {
        return glimpse.mode("n" + id).isPresent();
    }

    /** No call is under way: of what it can be sure of, the store has what it believes, and nothing else. */
    void checkAtRest() {
        if (!ledger.isQuiet()) {
            return;
        }
        for (Key asked : ledger.asked()) {
            if (ledger.isShared() && !own.contains(asked.token())) {
                continue;
            }
            Optional<LockMode> believed = Optional.ofNullable(glimpse.keys().get(asked.resource()))
                    .filter(held -> held.token().equals(asked.token()))
                    .map(Editor::mode);
            if (ledger.isSure(asked) && (believed.isEmpty() || !isLost())) {
                Optional<LockMode> there = store.find(asked).map(Response.Granted::mode);
                if (!there.equals(believed)) {
                    throw wrong(
                            "of " + Network.shown(asked) + " the store has " + there + ", and the editor " + believed);
                }
            }
        }
    }

    /** What is held was asked about, and all of that was answered. */
    void isSettled() {
        ledger.settled(glimpse.keys().values());
    }

    Map<String, LockMode> modes() {
        Map<String, LockMode> modes = new HashMap<>();
        glimpse.keys().forEach((resource, key) -> modes.put(resource, mode(key)));
        return modes;
    }

    int losses() {
        return losses;
    }

    @Nullable Object hold() {
        return lock.hold();
    }

    /** For the listener. */
    private void heard(LossReason reason) {
        follow();
        world.note("   " + name + "'s listener hears " + reason);
        if (++heard > losses) {
            throw wrong("its listener was told of a loss, and nothing was lost, or that was told before");
        }
    }

    void checkTold() {
        if (heard < losses && !desk.isClosing()) {
            throw wrong("its listener was not told of the loss");
        }
    }

    Violation wrong(String what) {
        return new Violation(name + ": " + what);
    }
}
