package dev.latchkey.cli;

import dev.latchkey.Key;
import dev.latchkey.console.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The name of a lock, and the command to run under it. */
final class CommandArguments {

    @Parameters(index = "0", paramLabel = "NAME", description = "The resource to protect: any text.")
    private String name = "";

    @Parameters(index = "1..*", paramLabel = "COMMAND", description = "What to run, and its arguments.")
    private List<String> words = List.of();

    @Option(
            names = {"-c", "--command"},
            paramLabel = "SHELL COMMAND",
            description = "Run this through /bin/sh; words after it are its $0, $1, ...")
    private @Nullable String script;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    String name() {
        return name;
    }

    /**
     * Returns what to run.
     *
     * @throws ParameterException if there is nothing to run, or an option of it would count as one of {@code lock}
     * @throws IllegalArgumentException if the name is too long or not valid Unicode
     */
    ChildCommand command() {
        Key.of(name);
        if (script != null) {
            return ChildCommand.throughShell(script, words);
        }
        if (words.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "no command to run under " + Text.quoted(name) + ": " + verb() + " " + Text.oneLine(name)
                            + " -- COMMAND");
        }
        if (wordsBehindDashes() < words.size()) {
            // Otherwise an option of the command, such as -s, would count as one of lock.
            throw new ParameterException(
                    spec.commandLine(),
                    "put -- before the command: " + verb() + " " + Text.oneLine(name) + " -- "
                            + Text.oneLine(words.get(0)));
        }
        return ChildCommand.of(words);
    }

    private String verb() {
        return "lock " + spec.name();
    }

    /** Behind the first {@code --}. A second one, or one within the command, belongs to the command. */
    private int wordsBehindDashes() {
        List<String> arguments = spec.commandLine().getParseResult().originalArgs();
        int dashes = arguments.indexOf("--");
        return dashes < 0 ? 0 : arguments.size() - dashes - 1;
    }
}
