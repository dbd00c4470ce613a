package dev.latchkey.cli;

import java.time.Duration;
import picocli.CommandLine.Option;

/** The option of the verbs that run a command, and may have to end it. */
final class KillAfterOption {

    @Option(
            names = "--kill-after",
            paramLabel = "DURATION",
            converter = DurationText.class,
            defaultValue = "5s",
            description = "How long the command may take to end after TERM, before KILL. Default: 5s.")
    private Duration killAfter = Duration.ofSeconds(5);

    Duration duration() {
        return killAfter;
    }
}
