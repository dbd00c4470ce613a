package dev.latchkey.cli;

import dev.latchkey.Capability;
import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.console.Text;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.QueuedWaiter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lock who}: shows the holders of a lock, and the line of those that wait. */
@Command(
        name = "who",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description =
                "Shows who holds the lock NAME, and who waits for it, the next one first. The answer may be outdated"
                        + " when you read it.",
        customSynopsis = "lock who [OPTIONS] NAME",
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            "lock break NAME --token N ends a hold, by its fencing token.",
            "",
            "Exit codes:",
            "  0           shown, whether it is free or held (lock status tells by its exit code)",
            "  64, 69, 70  as for lock run; 64 also if the store cannot tell who holds a lock",
            "  77          the store refuses the password, the user or the permission",
            "  74          the answer could not be written to stdout",
        })
final class WhoCommand implements Callable<Integer> {

    @Parameters(index = "0", paramLabel = "NAME", description = "The resource that is protected: any text.")
    private String name = "";

    @Option(names = "--json", description = "Print the answer as JSON.")
    private boolean json;

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Override
    public Integer call() {
        Key.of(name);
        Console console = store.console();
        try (LockFactory locks = LockFactory.connect(store.dsn())) {
            List<Holder> holders = locks.holders(name);
            Optional<List<QueuedWaiter>> waiters =
                    locks.supports(Capability.WAITERS) ? Optional.of(locks.waiters(name)) : Optional.empty();
            if (json) {
                console.answer(StatusCommand.json(name, holders)
                        .put(
                                "waiters",
                                waiters.map(queue ->
                                        queue.stream().map(HolderReport::json).toList()))
                        .toString());
            } else {
                print(holders, waiters, console);
            }
        } catch (UnsupportedOperationException e) {
            throw StatusCommand.cannotTell(name, e);
        }
        return ExitCode.OK.number();
    }

    private void print(List<Holder> holders, Optional<List<QueuedWaiter>> waiters, Console console) {
        String shown = Text.oneLine(name);
        if (holders.isEmpty()) {
            console.answer(shown + ": free");
        }
        holders.forEach(holder -> console.answer(shown + ": " + HolderReport.line(holder)));
        if (waiters.isEmpty()) {
            console.say("this store cannot tell who waits");
            return;
        }
        int place = 0;
        for (QueuedWaiter waiter : waiters.get()) {
            place++;
            console.answer("  waiting " + place + ". " + HolderReport.line(waiter));
        }
    }
}
