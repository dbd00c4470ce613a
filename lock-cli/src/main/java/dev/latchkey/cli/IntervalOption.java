package dev.latchkey.cli;

import java.time.Duration;
import picocli.CommandLine.Option;

/** The option of the verbs that show what is held as it changes. */
final class IntervalOption {

    private static final Duration SHORTEST = Duration.ofMillis(100);

    @Option(
            names = "--interval",
            paramLabel = "D",
            converter = DurationText.class,
            description = "How often the store is read while somebody looks. Default: 1s.")
    private Duration interval = Duration.ofSeconds(1);

    Duration duration() {
        if (interval.compareTo(SHORTEST) < 0) {
            throw new CommandException(ExitCode.USAGE, "--interval is at least 100ms", null);
        }
        return interval;
    }
}
