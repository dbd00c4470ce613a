package dev.latchkey.cli;

import dev.latchkey.LockMode;
import dev.latchkey.console.Text;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options for acquiring a lock, and for the case that somebody else holds it. */
final class WaitOptions {

    private static final int LARGEST_EXIT_CODE = 255;

    @Option(
            names = {"-n", "--no-wait"},
            description = "Do not wait while somebody else holds the lock.")
    private boolean noWait;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "DURATION",
            converter = DurationText.class,
            description = "Wait at most this long; 0 is the same as -n. Default: no limit.")
    private @Nullable Duration wait;

    @Option(
            names = {"-s", "--shared"},
            description = "Acquire the lock in shared mode.")
    private boolean shared;

    @Option(
            names = {"-E", "--conflict-exit-code"},
            paramLabel = "N",
            description = "Exit code when somebody else holds the lock, 0 to 255. Default: 75.")
    private @Nullable Integer conflictExitCode;

    @Option(
            names = {"-x", "--skip-ok"},
            description = "Exit with 0, silently, when somebody else holds the lock: for cron.")
    private boolean skipOk;

    @Option(
            names = "--ttl",
            paramLabel = "DURATION",
            converter = DurationText.class,
            defaultValue = "5m",
            description = "The time after which the store ends the lock if it is not refreshed. Default: 5m. Has no"
                    + " effect where locks end with their process (flock).")
    private Duration ttl = Duration.ofMinutes(5);

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    LockTarget want(String dsn, String resource, LockTarget.Keeping keeping) {
        if (noWait && wait != null && !wait.isZero()) {
            throw new ParameterException(spec.commandLine(), "-n and -w exclude each other: wait, or do not");
        }
        if (conflictExitCode != null && skipOk) {
            throw new ParameterException(spec.commandLine(), "-E and -x exclude each other: -x is -E 0, silently");
        }
        if (conflictExitCode != null && (conflictExitCode < 0 || conflictExitCode > LARGEST_EXIT_CODE)) {
            throw new ParameterException(spec.commandLine(), "-E takes an exit code from 0 to 255");
        }
        LockMode mode = shared ? LockMode.SHARED : LockMode.EXCLUSIVE;
        return new LockTarget(dsn, resource, ttl, mode, maxWait(), keeping);
    }

    private Duration maxWait() {
        if (noWait) {
            return Duration.ZERO;
        }
        return wait == null ? LockTarget.NO_LIMIT : wait;
    }

    /** Reports why the lock was not acquired, and returns the exit code. */
    int explain(AcquireAnswer answer, LockTarget want, Console console) {
        if (answer instanceof AcquireAnswer.Failed failed) {
            throw failed.failure();
        }
        if (answer instanceof AcquireAnswer.Aborted aborted) {
            console.explain("waiting for " + Text.quoted(want.resource()) + " ended by " + aborted.signal());
            return aborted.signal().exitCode();
        }
        if (answer instanceof AcquireAnswer.Conflicted conflicted) {
            String message = Text.quoted(want.resource()) + " is held by " + conflicted.who()
                    + (want.maxWait().isZero()
                            ? ""
                            : "; gave up after " + DurationText.format(want.maxWait()) + " of waiting");
            if (skipOk) {
                console.explain(message);
                return ExitCode.OK.number();
            }
            console.say(message);
            return conflictExitCode == null ? ExitCode.CONFLICT.number() : conflictExitCode;
        }
        throw new IllegalStateException("not an answer without a lock: " + answer.getClass());
    }
}
