package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.Holder;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One schedule of sticky and plain Locks: two or three processes, a few Locks of one resource in each, and what must hold after
 * each step. No two believe to hold it at once; each hold has a greater fencing token than all before it, in whatever process
 * they were; and when nothing was lost on the way, nobody waits in vain, and nothing is left behind.
 */
final class StickySchedule implements World.Rules {

    private static final long[] TTLS = {100, 1_000, 5_000};
    private static final int MOST_LOCKS = 9;

    private final World world;
    private final InMemoryStore store = new InMemoryStore();
    private final List<Node> processes = new ArrayList<>();
    private final List<StickyActor> actors = new ArrayList<>();
    private final List<Fiber> users = new ArrayList<>();
    private final StickyOperations operations;
    private final boolean isFaultless;
    private long newest;

    /** Who held last under the newest token, unless somebody else has held since. */
    private @Nullable StickyActor last;

    private boolean wasTransferred;
    private boolean hasMinHold;
    private int left;
    private int closed;

    /** A process: its factory, and how it reaches the store. */
    record Node(String name, RecallBorder border, LockFactory factory) {}

    StickySchedule(World world, RecallBorder.Plant plant) {
        this.world = world;
        world.pauseAtGuards();
        this.isFaultless = world.oneIn(3);
        int faultIn = isFaultless ? 0 : 2 + world.draw(8);
        int count = 2 + world.draw(2);
        for (int i = 0; i < count; i++) {
            RecallBorder border = new RecallBorder(world, store, faultIn, plant);
            processes.add(new Node("process " + (i + 1), border, new LockFactory(border)));
        }
        for (int i = 0; i < count + 1 + world.draw(3); i++) {
            add(processes.get(i % count));
        }
        for (int i = 0; i < 2 + world.draw(3); i++) {
            users.add(world.addUser("thread " + (i + 1)));
        }
        this.left = 5 + world.draw(30);
        this.operations = new StickyOperations(world, this);
    }

    private void add(Node process) {
        LockBuilder builder = process.factory().lock("r");
        boolean isSticky = !world.oneIn(4);
        Duration ttl = options(builder);
        Duration kept = Duration.ofMillis(TTLS[world.draw(TTLS.length)]);
        add(process, isSticky ? builder.sticky(kept) : builder, isSticky ? "sticky " + kept : "plain", ttl);
    }

    /** A Lock for a key that another process has given away. */
    StickyActor received(Node process, Key key) {
        LockBuilder builder = process.factory().lock(key);
        Duration ttl = options(builder);
        return add(process, builder, "received", ttl);
    }

    private Duration options(LockBuilder builder) {
        long ttl = TTLS[world.draw(TTLS.length)];
        world.setLongestStep(ttl * 700_000);
        if (world.oneIn(3)) {
            builder.autoRefresh();
        }
        if (world.oneIn(10)) {
            builder.maxHold(Duration.ofMillis(2 * ttl));
        }
        builder.ttl(Duration.ofMillis(ttl));
        return Duration.ofMillis(ttl);
    }

    private StickyActor add(Node process, LockBuilder builder, String kind, Duration ttl) {
        String name = "lock " + (char) ('A' + actors.size());
        StickyActor actor = new StickyActor(name, process, builder.create(), kind.startsWith("sticky"), ttl);
        actors.add(actor);
        world.note("   " + actor.name() + " of " + process.name() + ": " + kind + ", " + ttl);
        return actor;
    }

    List<StickyActor> actors() {
        return actors;
    }

    List<Node> processes() {
        return processes;
    }

    List<Fiber> users() {
        return users;
    }

    /** What is released in its min hold ends by itself. */
    void usesMinHold() {
        hasMinHold = true;
    }

    /** What is given away, or was lost meanwhile, is left to its lease. */
    void transfers() {
        wasTransferred = true;
    }

    boolean mayReceive() {
        return actors.size() < MOST_LOCKS;
    }

    @Override
    public boolean beginNext(Fiber user) {
        if (left == 0 || !users.contains(user)) {
            return false;
        }
        left--;
        user.add(operations.draw());
        return true;
    }

    @Override
    public boolean windUp() {
        left = 0;
        if (closed < processes.size()) {
            Node process = processes.get(closed++);
            world.addUser("closer " + closed).add(operations.closing(process));
            return true;
        }
        checkNothingIsLeft();
        return false;
    }

    /** What was lost or has died ends with its lease; what was given away is its receiver's. */
    private void checkNothingIsLeft() {
        if (!mayBeLeft() && store.holders("r").stream().anyMatch(StickySchedule::isBelieved)) {
            throw new Violation("all are closed, and it is held still: " + store.holders("r"));
        }
    }

    private boolean mayBeLeft() {
        return isDisturbed() || actors.stream().anyMatch(StickyActor::hasLost);
    }

    private boolean isDisturbed() {
        return !isFaultless
                || wasTransferred
                || hasMinHold
                || actors.stream().anyMatch(actor -> actor.hasLost() && mayBeRenewed(actor))
                || processes.stream().anyMatch(process -> process.border().isDead());
    }

    /** What is over may have been renewed late, or be left to who has its key. */
    private boolean mayBeRenewed(StickyActor actor) {
        return actor.isHandedOut() || actor.process().border().hasRenewed() || actor.hasJustLost(world.now());
    }

    /**
     * Who waits is served as long as nothing is lost on the way, for a lock that is only kept is given back. What its Lock still
     * held when the factory was closed, and has lost since, ends with its lease.
     */
    @Override
    public void checkAtRest() {
        boolean isUsed = actors.stream().anyMatch(StickySchedule::isUsing)
                || !store.holders("r").stream().allMatch(StickySchedule::isBelieved);
        if (isUsed || (closed == 0 ? isDisturbed() : mayBeLeft())) {
            return;
        }
        actors.stream().filter(StickyActor::isWaiting).findFirst().ifPresent(waiting -> {
            throw new Violation(waiting.name() + " waits in vain: nobody uses " + store.holders("r"));
        });
    }

    /** Who waits to have its shared hold promoted keeps nobody waiting. */
    private static boolean isUsing(StickyActor actor) {
        return actor.isHeld() && !actor.isWaiting();
    }

    /** What its holder takes for over is left to the rest of its lease. */
    private static boolean isBelieved(Holder left) {
        Duration rest = left.remaining().orElseThrow();
        Duration all = rest.plus(left.held().orElseThrow());
        return rest.compareTo(all.dividedBy(50).plusMillis(5)) > 0;
    }

    @Override
    public void check() {
        for (StickyActor actor : actors) {
            actor.look(world.now());
        }
        for (StickyActor actor : actors) {
            if (actor.isLive() && actor.isExclusive()) {
                checkAlone(actor);
                checkToken(actor);
            } else if (actor.isLive() && actor.isHeld() && actor != last) {
                last = null;
            }
        }
    }

    private void checkAlone(StickyActor one) {
        for (StickyActor other : actors) {
            if (other != one && other.isLive() && other.isHeld()) {
                throw new Violation(one.name() + " believes to hold exclusively, and " + other.name() + " to hold");
            }
        }
    }

    /** A Lock that is not sticky, has lost its hold by its own clock alone, and acquires at once, goes on with that. */
    private void checkToken(StickyActor one) {
        long token = one.fencingToken()
                .orElseThrow(() -> new Violation(one.name() + " holds exclusively without a fencing token"));
        boolean goesOn = one == last && !one.isSticky() && one.hasOutlasted(token);
        boolean mayBeTheSame = !one.isNew() || one.isShared() || goesOn;
        if (token < newest || (token == newest && !mayBeTheSame)) {
            throw new Violation(one.name() + " holds under " + token + " after " + newest);
        }
        newest = token;
        last = one;
        one.seen();
    }

    @Override
    public void checkTold() {}
}
