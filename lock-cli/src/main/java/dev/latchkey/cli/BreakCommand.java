package dev.latchkey.cli;

import dev.latchkey.Capability;
import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.console.Json;
import dev.latchkey.console.Text;
import dev.latchkey.spi.Holder;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lock break}: ends the hold of somebody else. */
@Command(
        name = "break",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description =
                "Ends the exclusive hold of the lock NAME that has this fencing token; a later one is left alone. The next"
                        + " waiter is granted the lock. The holder is told at once where the store can send it a message,"
                        + " else by its next renewal: until then it may go on with its work, so that two work at once.",
        customSynopsis = "lock break [OPTIONS] --token N NAME",
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            "First look with lock who NAME, which shows the fencing token. At a terminal, lock break",
            "asks before it ends the hold; elsewhere it needs --yes.",
            "",
            "Exit codes:",
            "  0           the hold was ended by this command",
            "  64, 69, 70  as for lock run; 64 also without --yes where no terminal is, and if the",
            "              store cannot end the hold of somebody else",
            "  74          the answer could not be written to stdout; the hold is ended",
            "  75          you did not answer yes: nothing was ended",
            "  76          nobody holds the lock with this fencing token: nothing was ended",
            "  77          the store refuses the password, the user or the permission",
        })
final class BreakCommand implements Callable<Integer> {

    @Parameters(index = "0", paramLabel = "NAME", description = "The resource that is protected: any text.")
    private String name = "";

    @Option(
            names = "--token",
            paramLabel = "N",
            required = true,
            description = "The fencing token of the hold to end, as lock who shows it.")
    private long fencingToken;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask.")
    private boolean yes;

    @Option(names = "--json", description = "Print the answer as JSON.")
    private boolean json;

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Override
    public Integer call() throws InterruptedException {
        Key.of(name);
        Console console = store.console();
        Confirmation confirmation = yes ? Confirmation.yes() : Confirmation.atTerminal();
        try (LockFactory locks = LockFactory.connect(store.dsn())) {
            if (!locks.supports(Capability.FORCE_RELEASE)) {
                throw new CommandException(
                        ExitCode.USAGE,
                        "this store cannot end the hold of somebody else: end the process that holds "
                                + Text.quoted(name),
                        null);
            }
            Optional<Holder> holder = holder(locks);
            if (holder.isEmpty()) {
                return answer(false, console);
            }
            if (!confirmation.confirm(prompt(holder.get()))) {
                console.say("nothing was ended");
                return ExitCode.CONFLICT.number();
            }
            return answer(locks.forceRelease(name, fencingToken), console);
        }
    }

    private Optional<Holder> holder(LockFactory locks) {
        return locks.holders(name).stream()
                .filter(holder -> holder.fencingToken().isPresent()
                        && holder.fencingToken().getAsLong() == fencingToken)
                .findFirst();
    }

    private String prompt(Holder holder) {
        return Text.quoted(name) + " is " + HolderReport.line(holder)
                + ".\nIts holder may go on with its work until it hears that the lock is lost. End this hold? [y/N] ";
    }

    private int answer(boolean ended, Console console) {
        if (json) {
            console.answer(new Json()
                    .put("resource", name)
                    .put("fencingToken", (Long) fencingToken)
                    .put("ended", ended)
                    .toString());
        }
        if (!ended) {
            console.say("nobody holds " + Text.quoted(name) + " with fencing token " + fencingToken
                    + ": nothing was ended");
            return ExitCode.LOST.number();
        }
        console.say("ended the hold of " + Text.quoted(name) + " with fencing token " + fencingToken
                + "; its holder may still work until it hears of that");
        return ExitCode.OK.number();
    }
}
