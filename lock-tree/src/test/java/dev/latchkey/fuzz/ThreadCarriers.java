package dev.latchkey.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Fibers on threads, of which one at a time has the baton. A fiber that begins runs on whichever thread is free, so that only
 * calls that overlap cost a change of threads.
 */
final class ThreadCarriers implements Carriers {

    /** One thread. */
    private final class Carrier {
        private final Thread thread;
        private volatile boolean go;
        private @Nullable Fiber begun;

        /** The calling thread if there is no number. */
        Carrier(int number) {
            thread = number == 0 ? Thread.currentThread() : new Thread(this::serve, "carrier-" + number);
            if (number > 0) {
                thread.setDaemon(true);
                thread.start();
            }
        }

        private void serve() {
            while (true) {
                awaitBaton();
                boolean unused = conduct(this);
            }
        }

        void pass() {
            go = true;
            LockSupport.unpark(thread);
        }

        void awaitBaton() {
            while (!go) {
                LockSupport.park(this);
            }
            go = false;
        }
    }

    private final List<Carrier> idle = new ArrayList<>();
    private @Nullable Carrier main;
    private @Nullable World world;
    private int started;

    @Override
    public void run(World newWorld) {
        world = newWorld;
        // What has failed leaves fibers, and maybe one of this thread, that nobody goes back to.
        Carrier mine = new Carrier(0);
        main = mine;
        if (!conduct(mine)) {
            mine.awaitBaton();
        }
    }

    @Override
    public void leave(Fiber running, @Nullable Fiber next) {
        Carrier mine = carrier(running);
        if (next == null) {
            mainCarrier().pass();
        } else if (next.stack() != null) {
            carrier(next).pass();
        } else {
            Carrier free = idle.isEmpty() ? new Carrier(++started) : idle.remove(idle.size() - 1);
            free.begun = next;
            free.pass();
        }
        mine.awaitBaton();
    }

    /** At the bottom of a stack: runs what begins, until the baton goes to another; true if all is over here. */
    private boolean conduct(Carrier me) {
        World runs = theWorld();
        Fiber next = me.begun == null ? runs.next() : me.begun;
        me.begun = null;
        while (next != null && next.stack() == null) {
            next.setStack(me);
            runs.goesOn(next);
            runs.runTask(next);
            next.setStack(null);
            next = runs.next();
        }
        if (me != main) {
            idle.add(me);
        }
        if (next != null) {
            carrier(next).pass();
        } else if (me != main) {
            mainCarrier().pass();
        }
        return next == null;
    }

    private static Carrier carrier(Fiber fiber) {
        if (fiber.stack() instanceof Carrier carrier) {
            return carrier;
        }
        throw new IllegalStateException(fiber.name() + " does not run");
    }

    private Carrier mainCarrier() {
        Carrier carrier = main;
        if (carrier == null) {
            throw new IllegalStateException("nothing runs");
        }
        return carrier;
    }

    private World theWorld() {
        World known = world;
        if (known == null) {
            throw new IllegalStateException("nothing runs");
        }
        return known;
    }
}
