package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the threads of a {@link StickySchedule} do, drawn at random. */
final class StickyOperations {

    private interface Work {
        @Nullable Object on(Lock lock) throws InterruptedException;
    }

    private final World world;
    private final StickySchedule schedule;

    StickyOperations(World world, StickySchedule schedule) {
        this.world = world;
        this.schedule = schedule;
    }

    Runnable draw() {
        List<StickyActor> actors = schedule.actors();
        StickyActor actor = actors.get(world.draw(actors.size()));
        int drawn = world.draw(62);
        if (drawn < 10) {
            return call(actor, "tryAcquire()", Lock::tryAcquire);
        } else if (drawn < 20) {
            Duration wait = time(10, 3_000);
            return call(actor, "tryAcquire(" + wait + ")", waiting(actor, lock -> lock.tryAcquire(wait)));
        } else if (drawn < 23) {
            return call(actor, "tryAcquireShared()", Lock::tryAcquireShared);
        } else if (drawn < 27) {
            Duration wait = time(10, 3_000);
            return call(actor, "tryAcquireShared(" + wait + ")", waiting(actor, lock -> lock.tryAcquireShared(wait)));
        } else if (drawn < 30) {
            return call(actor, "refresh()", Lock::refresh);
        } else if (drawn < 32) {
            Duration once = time(20, 8_000);
            return call(actor, "refresh(" + once + ")", lock -> lock.refresh(once));
        } else if (drawn < 33) {
            Duration once = time(20, 8_000);
            Duration least = time(1, 500);
            schedule.usesMinHold();
            return call(actor, "refresh(" + once + ", " + least + ")", lock -> lock.refresh(once, least));
        } else if (drawn < 50) {
            return call(actor, "release()", Lock::release);
        } else if (drawn < 53) {
            return call(actor, "isAcquired()", Lock::isAcquired);
        } else if (drawn < 55) {
            return call(actor, "transferKey()", lock -> {
                schedule.transfers();
                return givenAway(lock.transferKey());
            });
        } else if (drawn < 57) {
            Fiber user = schedule.users().get(world.draw(schedule.users().size()));
            return () -> {
                world.note("interrupts " + user.name());
                user.interrupt();
            };
        }
        if (drawn >= 60) {
            return call(actor, "key()", lock -> handedOut(actor));
        }
        return drawn < 58 ? dying(actor.process()) : closing(actor.process());
    }

    private Duration time(int from, int to) {
        return Duration.ofMillis(from + world.draw(world.oneIn(2) ? to : to / 10));
    }

    private String givenAway(Key key) {
        List<StickySchedule.Node> processes = schedule.processes();
        return schedule.mayReceive()
                ? "to "
                        + schedule.received(processes.get(world.draw(processes.size())), key)
                                .name()
                : "to nobody";
    }

    private static String handedOut(StickyActor actor) {
        actor.handsOut();
        return actor.lock().key().held().isPresent() ? "of a hold" : "of nothing";
    }

    private Runnable call(StickyActor actor, String name, Work work) {
        return () -> {
            if (!actor.isLive()) {
                return;
            }
            world.note(actor.name() + "." + name);
            try {
                Object result = work.on(actor.lock());
                world.note(actor.name() + "." + name + " = " + (result instanceof Lock ? "this" : result));
            } catch (LockException | IllegalStateException | InterruptedException e) {
                world.note(actor.name() + "." + name + " threw " + e);
            }
        };
    }

    private static Work waiting(StickyActor actor, Work work) {
        return lock -> {
            actor.beginsToWait();
            try {
                return work.on(lock);
            } finally {
                actor.endsToWait();
            }
        };
    }

    private Runnable dying(StickySchedule.Node process) {
        return () -> {
            world.note(process.name() + " dies");
            process.border().dies();
        };
    }

    Runnable closing(StickySchedule.Node process) {
        return () -> {
            world.note(process.name() + " closes its factory");
            process.factory().close();
        };
    }
}
