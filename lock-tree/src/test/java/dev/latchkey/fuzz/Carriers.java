package dev.latchkey.fuzz;

import org.jspecify.annotations.Nullable;

/** What the stacks of fibers are kept on, so that one can be left in the midst of a call and gone back to. */
interface Carriers {

    /** Runs fibers as the world draws them, until it draws none. */
    void run(World world);

    /** Leaves the running fiber for another, or for good if that is null. Returns when it is gone back to. */
    void leave(Fiber running, @Nullable Fiber next);

    /** The cheapest that this JVM has. */
    static Carriers best() {
        return Continuations.areThere() ? new Continuations() : new ThreadCarriers();
    }
}
