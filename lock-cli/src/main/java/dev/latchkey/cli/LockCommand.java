package dev.latchkey.cli;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code lock} without a verb: prints the help. */
@Command(
        name = "lock",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description = "Runs commands under a lock, so that no two of them run at once.",
        synopsisSubcommandLabel = "run|lead|acquire|refresh|release|status|ls|who|break|top|serve",
        footerHeading = "%n",
        footer = {
            "Examples:",
            "  lock run report -- make report        one at a time, the others wait",
            "  lock run -n report -- make report     exit code 75 if it runs already",
            "  lock lead dispatcher -- ./dispatcher  on several hosts: runs on one at a time",
            "  lock status report                    is it free? who holds it?",
            "  lock ls nightly-                      what is held, of the names that begin so",
            "  lock who report                       who holds it, and who waits behind",
            "  lock top                              what is held as it changes, most waiters first",
            "  lock serve                            the same as a page to look at",
            "",
            "lock run --help tells the rest.",
        })
final class LockCommand implements Runnable {

    static final List<String> VERBS_IN_ORDER =
            List.of("run", "lead", "acquire", "refresh", "release", "status", "ls", "who", "break", "top", "serve");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "say what to do: lock run NAME -- command, or lead, acquire, refresh, release, status, ls, who, break, top, serve");
    }

    /** Reads the version from the jar. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = LockCommand.class.getPackage().getImplementationVersion();
            return new String[] {"lock " + (version == null ? "(development)" : version)};
        }
    }
}
