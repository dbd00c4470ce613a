package dev.latchkey.cli;

import dev.latchkey.console.Text;
import java.time.Duration;
import java.util.Optional;

/** Stands for election, runs a command for each term, and stands again, until a signal ends that. */
final class ElectedRuns {

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private final LockTarget want;
    private final Duration stopTime;
    private final RunRules rules;
    private final Inbox inbox;
    private final Console console;

    /** In a row: of the command, and of the store. */
    private int failedRuns;

    private int failedRequests;

    ElectedRuns(LockTarget want, Duration stopTime, RunRules rules, Inbox inbox, Console console) {
        this.want = want;
        this.stopTime = stopTime;
        this.rules = rules;
        this.inbox = inbox;
        this.console = console;
    }

    /** Runs the command again and again, and returns the exit code for the signal that ends it, or of its last run. */
    int of(ChildCommand command) throws InterruptedException {
        while (true) {
            console.explain("standing for " + name());
            AcquireAnswer answer = AcquireTask.acquire(want, stopTime, inbox);
            if (answer instanceof AcquireAnswer.Aborted aborted) {
                return aborted.signal().exitCode();
            }
            if (answer instanceof AcquireAnswer.Acquired held) {
                int exitCode = run(command, held);
                if (isEndedBySignal(exitCode)) {
                    return exitCode;
                }
                notice(exitCode);
            } else if (answer instanceof AcquireAnswer.Failed failed) {
                notice(failed.failure());
            }
            Optional<UnixSignal> signal = pause();
            if (signal.isPresent()) {
                return signal.get().exitCode();
            }
        }
    }

    private int run(ChildCommand command, AcquireAnswer.Acquired held) throws InterruptedException {
        HoldChecks checks = HoldChecks.begin(held.lock(), want.ttl().dividedBy(3));
        try {
            return new ChildRun(held, rules, inbox, console).of(command);
        } catch (CommandException e) {
            if (e.exitCode() != ExitCode.LOST) {
                throw e;
            }
            console.say(Failures.message(e));
            return ExitCode.LOST.number();
        } finally {
            checks.close();
        }
    }

    /** A program may go on after HUP, QUIT and others: they end this one only if they have ended that. */
    private boolean isEndedBySignal(int exitCode) {
        return inbox.hasGot(UnixSignal.TERM)
                || inbox.hasGot(UnixSignal.INT)
                || UnixSignal.of(exitCode).filter(inbox::hasGot).isPresent();
    }

    private void notice(int exitCode) {
        boolean isFailure = exitCode != ExitCode.OK.number() && exitCode != ExitCode.LOST.number();
        failedRuns = isFailure ? failedRuns + 1 : 0;
        failedRequests = 0;
        if (exitCode != ExitCode.LOST.number()) {
            console.say("the command of " + name() + " ended with " + exitCode + ": standing again");
        }
    }

    /** Trying again never helps if the command line is wrong, or something is not permitted. */
    private void notice(RuntimeException failure) {
        if (Failures.exitCode(failure) != ExitCode.UNAVAILABLE) {
            throw failure;
        }
        if (failedRequests == 0) {
            console.say(Failures.message(failure) + "; trying again");
        } else {
            console.explain(Failures.message(failure));
        }
        failedRequests++;
    }

    /** Whoever waits comes first meanwhile. Events of the run that has ended are over with it. */
    private Optional<UnixSignal> pause() throws InterruptedException {
        Duration pause = pauseAfter(failedRequests > 0 ? failedRequests : failedRuns);
        console.explain("pausing for " + DurationText.format(pause));
        long end = System.nanoTime() + pause.toNanos();
        Optional<Event> event = inbox.next(pause);
        while (event.isPresent()) {
            if (event.get() instanceof Event.Signalled signalled) {
                return Optional.of(signalled.signal());
            }
            event = inbox.next(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
        }
        return Optional.empty();
    }

    static Duration pauseAfter(int failures) {
        Duration pause = FIRST_PAUSE;
        for (int i = 1; i < failures && pause.compareTo(LONGEST_PAUSE) < 0; i++) {
            pause = pause.multipliedBy(2);
        }
        return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    private String name() {
        return Text.quoted(want.resource());
    }
}
