package dev.latchkey.cli;

import static java.util.Map.entry;

import dev.latchkey.console.Text;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The {@code lock} command. */
public final class Main {

    private static final Map<String, Supplier<Object>> VERBS = Map.ofEntries(
            entry("run", RunCommand::new),
            entry("lead", LeadCommand::new),
            entry("acquire", AcquireCommand::new),
            entry("release", ReleaseCommand::new),
            entry("refresh", RefreshCommand::new),
            entry("status", StatusCommand::new),
            entry("ls", LsCommand::new),
            entry("who", WhoCommand::new),
            entry("break", BreakCommand::new),
            entry("top", TopCommand::new),
            entry("serve", ServeCommand::new));

    /** How long to wait for the reader of stderr at the end, when nothing is held any more. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(5);

    private Main() {}

    /**
     * Runs the command and ends the JVM with its exit code.
     *
     * @param args what stands behind {@code lock}
     */
    public static void main(String[] args) {
        // Names are UTF-8 in every locale, because JSON requires it and a cron job has no locale.
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        AsyncOutput reports = new AsyncOutput(new FileOutputStream(FileDescriptor.err));
        PrintStream err = new PrintStream(reports, true, StandardCharsets.UTF_8);
        System.setOut(out);
        System.setErr(err);
        QuietDrivers.install();
        StderrLogging.install();
        int exitCode = execute(args);
        reports.drain(LAST_WORDS);
        System.exit(exitCode);
    }

    /**
     * An error, for example at the limit of threads or files, would end the JVM with 1, which looks like the exit code
     * of a command.
     */
    private static int execute(String[] args) {
        try {
            Signals.followQuitLog();
            Optional<String> malformed = MalformedArgument.of(args);
            if (malformed.isPresent()) {
                ErrorMessages.say(
                        System.err,
                        Text.quoted(malformed.get())
                                + " cannot be passed on as it was typed: it is not valid UTF-8, or the locale is not");
                return ExitCode.USAGE.number();
            }
            return commandLine(args).execute(args);
        } catch (Error e) {
            Exception defect = new IllegalStateException(e);
            ErrorMessages.say(System.err, Failures.message(defect));
            return Failures.exitCode(defect).number();
        }
    }

    private static CommandLine commandLine(String[] args) {
        CommandLine lock = new CommandLine(new LockCommand());
        // Reading the annotations of a command takes 10 ms, so only those of the requested one are read, if it is
        // known.
        Supplier<Object> used = args.length == 0 ? null : VERBS.get(args[0]);
        if (used != null) {
            lock.addSubcommand(args[0], used.get());
        } else {
            LockCommand.VERBS_IN_ORDER.forEach(verb -> lock.addSubcommand(verb, verb(verb)));
            lock.addSubcommand(new CommandLine.HelpCommand());
        }
        Failures failures = new Failures();
        return lock.setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true)
                .setParameterExceptionHandler(failures)
                .setExecutionExceptionHandler(failures);
    }

    private static Object verb(String name) {
        Supplier<Object> verb = VERBS.get(name);
        if (verb == null) {
            throw new IllegalStateException(name);
        }
        return verb.get();
    }
}
