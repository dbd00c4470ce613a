package dev.latchkey.fuzz;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Time, threads and chance. One fiber runs at a time; whenever it pauses, the next event is drawn: a fiber that goes on or begins
 * something, a message of the network that arrives late, or time that passes. All that happens follows from the seed.
 */
final class World {

    /** What one schedule needs of the world around it. */
    interface Rules {
        /** Looks whether everything is as it must be; throws if not. */
        void check();

        /** Notes what a fiber has done, before anything else happens. */
        default void follow() {}

        /** Looks whether everybody was told, after what was to be told has been told. */
        void checkTold();

        /** Nothing goes on until time passes: looks whether anybody waits for something that does not come. */
        default void checkAtRest() {}

        /** Draws what a user's fiber does next; false if it has nothing to do any more. */
        boolean beginNext(Fiber user);

        /** All users are at rest, or wait: begins to end what can be ended; false if that was begun before. */
        boolean windUp();
    }

    private static final int MOST_EVENTS = 5_000;
    private static final long MILLI = 1_000_000;

    private static @Nullable World current;

    private final Carriers carriers = Carriers.best();

    private SplittableRandom random = new SplittableRandom(0);
    private long now;
    private final List<Fiber> fibers = new ArrayList<>();
    private @Nullable Fiber running;
    private final PriorityQueue<Simulated.Timer> timers =
            new PriorityQueue<>(Comparator.comparingLong(Simulated.Timer::at));
    private final Deque<Runnable> soon = new ArrayDeque<>();
    private final List<Runnable> late = new ArrayList<>();
    private final List<Fiber> ready = new ArrayList<>();
    private @Nullable Rules rules;
    private @Nullable Throwable failure;

    /** The thread of what a pool does that is no fiber; not its user's, who is running otherwise. */
    private final Simulated.Thread poolThread = new Simulated.Thread(null, "pool");

    private boolean inPool;
    private boolean arriving;
    private boolean choosing;
    private boolean pausesAtGuards;
    private int events;
    private @Nullable List<String> trace;
    private long longestStep;

    static World current() {
        World world = current;
        if (world == null) {
            throw new IllegalStateException("no world");
        }
        return world;
    }

    World() {
        current = this;
    }

    /** Begins anew. */
    void reset(long seed, @Nullable List<String> newTrace) {
        random = new SplittableRandom(seed);
        now = 1_000 * MILLI;
        fibers.clear();
        timers.clear();
        soon.clear();
        late.clear();
        failure = null;
        events = 0;
        trace = newTrace;
        pausesAtGuards = false;
        running = addUser("main");
    }

    /** From now on others may go on whenever a fiber has left a guard, not only when it asks the store. */
    void pauseAtGuards() {
        pausesAtGuards = true;
    }

    /** The longest time that is let pass without anything due. */
    void setLongestStep(long nanos) {
        longestStep = nanos;
    }

    Fiber addUser(String name) {
        return add(new Fiber(this, name, false));
    }

    Fiber addDaemon(String name) {
        return add(new Fiber(this, name, true));
    }

    private Fiber add(Fiber fiber) {
        fibers.add(fiber);
        return fiber;
    }

    long now() {
        return now;
    }

    /** Who runs spins for a moment. */
    void spin() {
        now += 1_000;
    }

    Fiber running() {
        Fiber fiber = running;
        if (fiber == null) {
            throw new IllegalStateException("nobody runs");
        }
        return fiber;
    }

    /** Who runs; null if a pool does something. */
    @Nullable Fiber runningFiber() {
        return inPool ? null : running();
    }

    Simulated.Thread thread() {
        return inPool ? poolThread : running().thread();
    }

    /** Whether a late message has its effect. */
    boolean isArriving() {
        return arriving;
    }

    int draw(int bound) {
        return random.nextInt(bound);
    }

    long draw(long bound) {
        return random.nextLong(bound);
    }

    boolean oneIn(int many) {
        return random.nextInt(many) == 0;
    }

    void fill(byte[] bytes) {
        random.nextBytes(bytes);
    }

    void add(Simulated.Timer timer) {
        timers.add(timer);
    }

    void cancelled(Simulated.Timer timer) {
        timers.remove(timer);
    }

    /** Has something done before anything else happens. */
    void soon(Runnable task) {
        soon.addLast(task);
    }

    /** Has something done at any later time. */
    void late(Runnable arrival) {
        late.add(arrival);
    }

    boolean isTraced() {
        return trace != null;
    }

    void note(String what) {
        if (trace != null) {
            trace.add(String.format(
                    "%8.1f ms  %-16s %s", (now - 1_000 * MILLI) / 1e6, running == null ? "" : running.name(), what));
        }
    }

    /** Runs one schedule to its end; throws what went wrong. */
    void run(Rules newRules) throws Throwable {
        rules = newRules;
        fibers.remove(0);
        carriers.run(this);
        running = null;
        if (failure != null) {
            throw failure;
        }
    }

    /** The running fiber lets others go on. Returns when it is its turn again. */
    void pause() {
        Fiber me = running();
        Fiber next = next();
        if (next != me) {
            carriers.leave(me, next);
            // Also if that is abandoned: what it does on its way out pauses as itself.
            running = me;
            if (failure != null) {
                throw new Abandoned();
            }
        }
    }

    /** Ends a fiber that does not go on, for the schedule has failed. */
    private static final class Abandoned extends Error {
        private static final long serialVersionUID = 1L;
    }

    void goesOn(Fiber fiber) {
        running = fiber;
    }

    void runTask(Fiber fiber) {
        try {
            fiber.run();
        } catch (Throwable e) {
            fail(e);
        }
    }

    /** Pauses only now and then. */
    void mayPause() {
        if (random.nextInt(4) != 0) {
            pause();
        } else {
            check();
        }
    }

    void leftGuard() {
        boolean isFiber = !inPool && !arriving && !choosing && running != null;
        if (pausesAtGuards && isFiber && failure == null && random.nextInt(6) == 0) {
            pause();
        }
    }

    void fail(Throwable problem) {
        if (failure == null) {
            failure = problem;
        }
    }

    private void check() {
        try {
            if (rules != null && failure == null) {
                runDue();
                runSoon(rules);
                rules.check();
                rules.checkTold();
            }
        } catch (Throwable e) {
            fail(e);
        }
    }

    private boolean isRightAtRest() {
        try {
            if (rules != null) {
                rules.checkAtRest();
            }
        } catch (Violation e) {
            fail(e);
        }
        return failure == null;
    }

    private void runSoon(Rules judge) {
        if (soon.isEmpty()) {
            return;
        }
        judge.follow();
        inPool = true;
        try {
            while (!soon.isEmpty()) {
                soon.removeFirst().run();
                judge.follow();
            }
        } finally {
            inPool = false;
        }
    }

    /** Draws who goes on; null if all is over, or something went wrong. */
    @Nullable Fiber next() {
        choosing = true;
        try {
            return choose();
        } finally {
            choosing = false;
        }
    }

    private @Nullable Fiber choose() {
        while (true) {
            check();
            if (failure != null) {
                return null;
            }
            if (++events > MOST_EVENTS) {
                fail(new Violation("it goes on and on: "
                        + fibers.stream()
                                .map(fiber -> fiber.name() + " " + fiber.state())
                                .toList()));
                return null;
            }
            collectReady();
            int choices = ready.size() + late.size();
            if (choices == 0 && !isRightAtRest()) {
                return null;
            }
            if (choices > 0 && !(canPass() && random.nextInt(choices + 1) == 0)) {
                int chosen = random.nextInt(choices);
                if (chosen < ready.size()) {
                    return ready.get(chosen);
                }
                arrive(chosen - ready.size());
            } else if (choices > 0) {
                boolean unused = passTime(false);
            } else if (!(random.nextInt(4) == 0 && begun()) && !passTime(true) && !begun()) {
                failIfHanging();
                return null;
            }
        }
    }

    private void arrive(int index) {
        arriving = true;
        try {
            late.remove(index).run();
        } catch (Throwable e) {
            fail(e);
        } finally {
            arriving = false;
        }
    }

    private void collectReady() {
        ready.clear();
        for (int i = 0; i < fibers.size(); i++) {
            Fiber fiber = fibers.get(i);
            if (fiber.state() == Fiber.State.READY
                    || fiber.canStart()
                    || (fiber.state() == Fiber.State.IDLE && !fiber.isDaemon() && begins(fiber))) {
                ready.add(fiber);
            }
        }
    }

    private boolean begins(Fiber user) {
        return rules != null && rules.beginNext(user);
    }

    private boolean begun() {
        return rules != null && rules.windUp();
    }

    private void failIfHanging() {
        for (Fiber fiber : fibers) {
            if (fiber.state() != Fiber.State.IDLE) {
                fail(new Violation(fiber.name() + " hangs: " + fiber.state()));
            }
        }
    }

    private boolean canPass() {
        return longestStep > 0;
    }

    /** Goes to the next thing that is due, or not as far; false if nothing is due. */
    private boolean passTime(boolean nothingElse) {
        Simulated.Timer first = timers.peek();
        long step = nothingElse || random.nextInt(3) == 0 ? Long.MAX_VALUE : random.nextLong(stepBound());
        if (first == null) {
            if (step != Long.MAX_VALUE) {
                now += step;
            }
            return false;
        }
        if (step < first.at() - now) {
            now += step;
            return true;
        }
        now = Math.max(now, first.at());
        runDue();
        return true;
    }

    private void runDue() {
        Simulated.Timer first = timers.peek();
        while (first != null && first.at() <= now) {
            timers.poll();
            first.run();
            first = timers.peek();
        }
    }

    private long stepBound() {
        return random.nextInt(2) == 0 ? 20 * MILLI : longestStep;
    }
}
