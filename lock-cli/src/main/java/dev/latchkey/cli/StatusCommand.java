package dev.latchkey.cli;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.console.Json;
import dev.latchkey.console.Text;
import dev.latchkey.spi.Holder;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lock status}: shows who holds a lock. */
@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description =
                "Shows who holds the lock NAME, without affecting it. The answer may be outdated when you read it:"
                        + " to find out whether work may begin, use lock run -n.",
        customSynopsis = "lock status [OPTIONS] NAME",
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            "Exit codes, as if one asked for the lock without waiting:",
            "  0           free; with -s also if it is held shared",
            "  75          held",
            "  64, 69, 70  as for lock run",
            "  77          the store refuses the password, the user or the permission",
            "  74          the answer could not be written to stdout",
        })
final class StatusCommand implements Callable<Integer> {

    @Parameters(index = "0", paramLabel = "NAME", description = "The resource that is protected: any text.")
    private String name = "";

    @Option(
            names = {"-s", "--shared"},
            description = "Exit code 0 also if it is held shared, so that another shared lock would be granted.")
    private boolean shared;

    @Option(names = "--json", description = "Print the answer as JSON.")
    private boolean json;

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Override
    public Integer call() {
        Key.of(name);
        Console console = store.console();
        List<Holder> holders = holders();
        if (json) {
            console.answer(json(name, holders).toString());
        } else if (holders.isEmpty()) {
            console.answer(Text.oneLine(name) + ": free");
        } else {
            holders.forEach(holder -> console.answer(Text.oneLine(name) + ": " + HolderReport.line(holder)));
        }
        return isFree(holders) ? ExitCode.OK.number() : ExitCode.CONFLICT.number();
    }

    private List<Holder> holders() {
        try (LockFactory locks = LockFactory.connect(store.dsn())) {
            return locks.holders(name);
        } catch (UnsupportedOperationException e) {
            throw cannotTell(name, e);
        }
    }

    static CommandException cannotTell(String name, UnsupportedOperationException e) {
        return new CommandException(
                ExitCode.USAGE,
                "this store cannot tell who holds " + Text.quoted(name) + "; lock run -n tells whether it is free",
                e);
    }

    static Json json(String name, List<Holder> holders) {
        return new Json()
                .put("resource", name)
                .put("state", state(holders))
                .put("holders", holders.stream().map(HolderReport::json).toList());
    }

    private boolean isFree(List<Holder> holders) {
        return holders.isEmpty() || (shared && !isExclusive(holders));
    }

    private static String state(List<Holder> holders) {
        return holders.isEmpty() ? "free" : isExclusive(holders) ? "exclusive" : "shared";
    }

    private static boolean isExclusive(List<Holder> holders) {
        return holders.stream().anyMatch(holder -> holder.mode() == LockMode.EXCLUSIVE);
    }
}
