package dev.latchkey.cli;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.console.Json;
import dev.latchkey.console.Text;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code lock refresh}: extends a lock that was acquired elsewhere. */
@Command(
        name = "refresh",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description = "Starts the TTL of a held lock again. Never acquires a lock.",
        customSynopsis = "lock refresh [OPTIONS] [KEY|-]",
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            HelpText.KEY_SOURCES,
            "",
            "Exit codes:",
            "  0           it is held for another --ttl",
            "  64, 69, 70  as for lock run",
            "  77          the store refuses the password, the user or the permission",
            "  74          the answer could not be written to stdout; it is held on",
            "  76          it is no longer held",
        })
final class RefreshCommand implements Callable<Integer> {

    @Mixin
    private KeyArgument argument = new KeyArgument();

    @Option(
            names = "--ttl",
            paramLabel = "DURATION",
            converter = DurationText.class,
            defaultValue = "5m",
            description = "The new TTL, from now on. Default: 5m.")
    private Duration ttl = Duration.ofMinutes(5);

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
            Lock lock = locks.createLock(key, ttl).refresh();
            Json answer = new Json().put("resource", key.resource()).put("refreshed", true);
            String description = HoldDescription.of(answer, lock).toString();
            // Closing the factory must leave the lock as it is, even if the answer cannot be printed.
            AcquireCommand.transferKey(lock);
            if (json) {
                console.answer(description);
            }
            console.explain("refreshed " + Text.quoted(key.resource()) + " for " + DurationText.format(ttl));
            return ExitCode.OK.number();
        }
    }
}
