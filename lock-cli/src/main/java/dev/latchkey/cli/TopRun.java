package dev.latchkey.cli;

import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import dev.latchkey.cli.top.Action;
import dev.latchkey.cli.top.Keyboard;
import dev.latchkey.cli.top.Keystroke;
import dev.latchkey.cli.top.Reading;
import dev.latchkey.cli.top.Screen;
import dev.latchkey.cli.top.TopView;
import dev.latchkey.console.Text;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.Size;

/**
 * Shows a view until a key or a signal ends it. The store and the keyboard, which may take any time, have threads of their own;
 * what they tell arrives in one inbox.
 */
final class TopRun {

    /** Times run on, also while the store is not read. */
    private static final Duration TICK = Duration.ofSeconds(1);

    /** A listing that takes long is not begun again at once: the store is used for this part of the time at most. */
    private static final int PAUSE_BY_DURATION = 10;

    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final LockFactory locks;
    private final String prefix;
    private final Duration interval;
    private final TopView view;
    private final Inbox inbox = new Inbox();

    TopRun(LockFactory locks, String prefix, Duration interval, TopView view) {
        this.locks = locks;
        this.prefix = prefix;
        this.interval = interval;
        this.view = view;
    }

    /** Returns the exit code. */
    int untilEnded() throws InterruptedException {
        Signals.deliverTo(inbox);
        try (Screen screen = Screen.open(() -> inbox.add(new Event.Resized()))) {
            Keyboard keyboard = screen.keyboard();
            Threads.startDaemon("lock-top-keys", () -> readKeys(keyboard));
            Threads.startDaemon("lock-top-reader", this::readStore);
            return show(screen);
        } catch (IOException e) {
            throw new CommandException(ExitCode.UNAVAILABLE, "cannot use this terminal: " + e.getMessage(), e);
        }
    }

    private int show(Screen screen) throws InterruptedException {
        Size size = screen.measure();
        while (true) {
            if (!screen.draw(view, size)) {
                throw Console.notWritten();
            }
            boolean isResized = false;
            // The screen is drawn once for all that has happened.
            for (Optional<Event> event = inbox.next(TICK); event.isPresent(); event = inbox.next(Duration.ZERO)) {
                if (event.get() instanceof Event.Signalled signalled) {
                    return signalled.signal().exitCode();
                }
                if (event.get() instanceof Event.Pressed pressed) {
                    Action action = view.press(pressed.key());
                    if (action instanceof Action.Quit) {
                        return ExitCode.OK.number();
                    }
                    act(action, screen);
                }
                isResized |= event.get() instanceof Event.Resized;
                take(event.get());
            }
            if (isResized) {
                size = screen.measure();
            }
        }
    }

    private void act(Action action, Screen screen) {
        if (action instanceof Action.Redraw) {
            screen.clear();
        } else if (action instanceof Action.EndHold hold) {
            Threads.startDaemon("lock-top-break", () -> inbox.add(new Event.Noted(end(hold))));
        }
    }

    private void take(Event event) {
        if (event instanceof Event.StoreRead read) {
            view.show(read.reading());
        } else if (event instanceof Event.StoreFailed failed) {
            view.showTrouble(failed.message());
        } else if (event instanceof Event.Noted noted) {
            view.showNote(noted.line());
        }
    }

    private String end(Action.EndHold hold) {
        String name = Text.quoted(hold.resource());
        try {
            return locks.forceRelease(hold.resource(), hold.fencingToken())
                    ? "ended the hold of " + name + "; its holder may still work until it hears of that"
                    : "nobody holds " + name + " with this fencing token any more: nothing was ended";
        } catch (RuntimeException e) {
            return "the hold of " + name + " may have ended or not: " + Text.message(Failures.message(e));
        }
    }

    private void readKeys(Keyboard keyboard) {
        Keystroke key;
        do {
            key = keyboard.next();
            inbox.add(new Event.Pressed(key));
        } while (key.kind() != Keystroke.Kind.END_OF_INPUT);
    }

    private void readStore() {
        try {
            long took = 0;
            while (true) {
                long pause = Math.min(PAUSE_BY_DURATION * took, LONGEST_PAUSE_NANOS);
                TimeUnit.NANOSECONDS.sleep(Math.max(interval.toNanos(), pause));
                long began = System.nanoTime();
                inbox.add(read());
                took = System.nanoTime() - began;
            }
        } catch (InterruptedException e) {
            // Nobody interrupts this thread, which is our own and ends with the process.
            Thread.currentThread().interrupt();
        }
    }

    /** A defect of a store must not end the thread that reads: the screen would show for ever what was held before. */
    private Event read() {
        try {
            return new Event.StoreRead(Reading.of(locks, prefix));
        } catch (LockException e) {
            return new Event.StoreFailed(Text.message(Failures.message(e)));
        } catch (RuntimeException | Error e) {
            return new Event.StoreFailed(Text.message(e.toString()));
        }
    }
}
