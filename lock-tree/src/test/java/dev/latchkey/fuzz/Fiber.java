package dev.latchkey.fuzz;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** A simulated thread: it runs until it pauses, and goes on when the {@link World} says so. */
final class Fiber {

    enum State {
        /** Between two tasks. */
        IDLE,
        /** Can go on. */
        READY,
        /** Waits for a lock. */
        BLOCKED,
        /** Waits for a signal, or a moment. */
        WAITING
    }

    private final World world;
    private final String name;
    private final boolean daemon;
    private final Simulated.Thread thread = new Simulated.Thread(this);
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private State state = State.IDLE;
    private boolean interrupted;
    private boolean interruptible;
    private Simulated.@Nullable Timer wakeUp;
    private @Nullable Object stack;
    private Subject.@Nullable Call call;

    Fiber(World world, String name, boolean daemon) {
        this.world = world;
        this.name = name;
        this.daemon = daemon;
    }

    Simulated.Thread thread() {
        return thread;
    }

    String name() {
        return name;
    }

    State state() {
        return state;
    }

    boolean isDaemon() {
        return daemon;
    }

    /** What it is kept on while it runs, or pauses. */
    @Nullable Object stack() {
        return stack;
    }

    void setStack(@Nullable Object kept) {
        stack = kept;
    }

    /** The call of a Lock that is under way in it. */
    Subject.@Nullable Call call() {
        return call;
    }

    void setCall(Subject.@Nullable Call begun) {
        call = begun;
    }

    void add(Runnable task) {
        tasks.addLast(task);
    }

    void dropTasks() {
        tasks.clear();
    }

    int tasks() {
        return tasks.size();
    }

    /** How many tasks it has to end. */
    int load() {
        return tasks.size() + (state == State.IDLE ? 0 : 1);
    }

    boolean canStart() {
        return state == State.IDLE && !tasks.isEmpty();
    }

    /** Runs its next task from beginning to end. */
    void run() {
        state = State.READY;
        try {
            tasks.removeFirst().run();
        } finally {
            state = State.IDLE;
        }
    }

    void block() {
        state = State.BLOCKED;
    }

    void unblock() {
        state = State.READY;
    }

    void await(long until, boolean isInterruptible) {
        state = State.WAITING;
        interruptible = isInterruptible;
        if (until != Long.MAX_VALUE) {
            wakeUp = new Simulated.Timer(world, until, this::wake);
            world.add(wakeUp);
        }
    }

    void wake() {
        if (state == State.WAITING) {
            state = State.READY;
            if (wakeUp != null) {
                wakeUp.cancel(false);
                wakeUp = null;
            }
        }
    }

    void interrupt() {
        interrupted = true;
        if (interruptible) {
            wake();
        }
    }

    boolean clearInterrupt() {
        boolean was = interrupted;
        interrupted = false;
        return was;
    }
}
