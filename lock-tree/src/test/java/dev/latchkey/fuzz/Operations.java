package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the threads of a {@link Schedule} do, drawn at random, and judged by its outcome. */
final class Operations {

    private interface Work {
        @Nullable Object on(Lock lock) throws InterruptedException;
    }

    private final World world;
    private final Schedule schedule;

    Operations(World world, Schedule schedule) {
        this.world = world;
        this.schedule = schedule;
    }

    Runnable draw() {
        List<Subject> subjects = schedule.subjects();
        Subject subject = subjects.get(world.draw(subjects.size()));
        int drawn = world.draw(40);
        if (drawn < 5) {
            return acquiring(subject, "tryAcquire()", Lock::tryAcquire);
        } else if (drawn < 8) {
            return cutting(acquiring(subject, "tryAcquireShared()", Lock::tryAcquireShared), subject);
        } else if (drawn < 12) {
            Duration wait = time(10, 3_000);
            return acquiring(subject, "tryAcquire(" + wait + ")", lock -> lock.tryAcquire(wait));
        } else if (drawn < 14) {
            return acquiring(subject, "acquire()", Lock::acquire);
        } else if (drawn < 16) {
            Duration wait = time(10, 3_000);
            return cutting(
                    acquiring(subject, "tryAcquireShared(" + wait + ")", lock -> lock.tryAcquireShared(wait)), subject);
        } else if (drawn < 20) {
            return call(subject, "refresh()", false, false, Lock::refresh);
        } else if (drawn < 25) {
            Duration once = time(20, 8_000);
            return cutting(call(subject, "refresh(" + once + ")", false, false, lock -> lock.refresh(once)), subject);
        } else if (drawn < 26) {
            Duration once = time(20, 8_000);
            Duration least = time(1, 500);
            return cutting(
                    call(
                            subject,
                            "refresh(" + once + ", " + least + ")",
                            false,
                            false,
                            lock -> lock.refresh(once, least)),
                    subject);
        } else if (drawn < 30) {
            return cutting(call(subject, "release()", true, false, Lock::release), subject);
        } else if (drawn < 33) {
            return cutting(closing(subject), subject);
        } else if (drawn < 35) {
            return showing(subject, "isAcquired()", lock -> !lock.isAcquired());
        } else if (drawn < 36) {
            return showing(subject, "isExpired()", Lock::isExpired);
        } else if (drawn < 38) {
            return cutting(handingOver(subject), subject);
        } else if (drawn < 39) {
            Fiber user = schedule.users().get(world.draw(schedule.users().size()));
            return () -> {
                world.note("interrupts " + user.name());
                user.interrupt();
            };
        }
        return closing(subject.place());
    }

    Runnable closing(Subject.Place place) {
        return () -> {
            schedule.subjects().stream()
                    .filter(each -> each.place() == place && each.isShared())
                    .forEach(each -> schedule.cut(each.key().token()));
            world.note("factory.close()");
            place.close();
        };
    }

    private Duration time(int from, int to) {
        return Duration.ofMillis(from + world.draw(world.oneIn(2) ? to : to / 10));
    }

    private Runnable acquiring(Subject subject, String name, Work work) {
        return call(subject, name, false, true, work);
    }

    /** What other Locks over the same key believe is not judged from here on. */
    private Runnable cutting(Runnable call, Subject by) {
        return () -> {
            if (by.isShared()) {
                schedule.cut(by.key().token());
            }
            call.run();
        };
    }

    private Runnable call(Subject subject, String name, boolean ends, boolean acquires, Work work) {
        return () -> {
            world.note(subject.name() + "." + name);
            Subject.Call call = subject.new Call(ends, acquires);
            try {
                Object result = work.on(subject.lock());
                world.note(subject.name() + "." + name + " = " + (result instanceof Lock ? "this" : result));
                call.returned(result);
            } catch (LockLostException e) {
                world.note(subject.name() + "." + name + " threw " + e);
                call.threw(e);
            } catch (LockStorageException | LockConflictedException | IllegalStateException | InterruptedException e) {
                world.note(subject.name() + "." + name + " threw " + e);
                call.failed(e);
            }
        };
    }

    private Runnable closing(Subject subject) {
        return () -> {
            world.note(subject.name() + ".close()");
            Subject.Call call = subject.new Call(true, false);
            try {
                subject.lock().close();
                world.note(subject.name() + ".close() returned");
                call.returnedFromClose();
            } catch (LockLostException e) {
                world.note(subject.name() + ".close() threw " + e);
                call.threw(e);
            }
        };
    }

    private Runnable showing(Subject subject, String name, Work work) {
        return call(subject, name, false, false, lock -> {
            Object isOver = work.on(lock);
            if (Boolean.TRUE.equals(isOver)) {
                subject.check();
                subject.shows();
            }
            return isOver;
        });
    }

    private Runnable handingOver(Subject subject) {
        return call(subject, "transferKey()", true, false, lock -> {
            Key key = lock.transferKey();
            List<Subject.Place> places = schedule.places();
            Subject.Place to = places.get(world.draw(places.size()));
            if (schedule.subjects().size() < 6) {
                Subject receiver = schedule.received(to, key);
                if (subject.isShared()) {
                    receiver.share();
                }
            }
            return key;
        });
    }
}
