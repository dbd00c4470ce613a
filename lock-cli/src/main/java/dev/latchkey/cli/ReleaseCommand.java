package dev.latchkey.cli;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.console.Json;
import dev.latchkey.console.Text;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code lock release}: releases a lock that was acquired elsewhere. */
@Command(
        name = "release",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description = "Releases a lock with its key.",
        customSynopsis = "lock release [OPTIONS] [KEY|-]",
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            HelpText.KEY_SOURCES,
            "",
            "Exit codes:",
            "  0           it was held until now, and is released",
            "  64, 69, 70  as for lock run",
            "  77          the store refuses the password, the user or the permission",
            "  74          the answer could not be written to stdout; it is released",
            "  76          it was no longer held with this key",
        })
final class ReleaseCommand implements Callable<Integer> {

    /** Has no effect, because nothing is acquired or refreshed. */
    private static final Duration ANY_TTL = Duration.ofMinutes(1);

    @Mixin
    private KeyArgument argument = new KeyArgument();

    @Option(names = "--json", description = "Print the answer as JSON.")
    private boolean json;

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Override
    public Integer call() {
        Console console = store.console();
        Key key = argument.key();
        try (LockFactory locks = LockFactory.connect(store.dsn())) {
            KeyArgument.requireTravelling(locks, key);
            boolean released = locks.createLock(key, ANY_TTL).release();
            if (json) {
                console.answer(new Json()
                        .put("resource", key.resource())
                        .put("released", released)
                        .toString());
            }
            if (!released) {
                console.say(Text.quoted(key.resource()) + " was no longer held with this key: nothing was released");
                return ExitCode.LOST.number();
            }
            console.explain("released " + Text.quoted(key.resource()));
            return ExitCode.OK.number();
        }
    }
}
