package dev.latchkey.cli;

import dev.latchkey.LockFactory;
import dev.latchkey.console.Text;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.ResourcePage;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lock ls}: lists what is held, page by page, so that the first line comes before the last one is read. */
@Command(
        name = "ls",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description =
                "Lists what is held in the store, by anybody, and how many wait for it. A resource that is held from the"
                        + " first line to the last is listed once, however many others come and go.",
        customSynopsis = "lock ls [OPTIONS] [PREFIX]",
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            "WAITING is - where the store keeps no queue. lock who NAME names the waiters.",
            "",
            "Exit codes:",
            "  0           listed, even if nothing is held",
            "  64, 69, 70  as for lock run; 64 also if the store cannot list: memory, Redis, etcd,",
            "              ZooKeeper, DynamoDB, MongoDB and SQL can",
            "  77          the store refuses the password, the user or the permission",
            "  74          the list could not be written to stdout",
        })
final class LsCommand implements Callable<Integer> {

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "PREFIX",
            description = "What the names begin with; all, if it is left out.")
    private String prefix = "";

    @Option(names = "--json", description = "Print each resource as JSON, on a line of its own.")
    private boolean json;

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Override
    public Integer call() {
        Console console = store.console();
        long listed = 0;
        try (LockFactory locks = LockFactory.connect(store.dsn())) {
            Optional<String> after = Optional.empty();
            do {
                ResourcePage page = locks.list(prefix, after, ListingStore.MAX_PAGE);
                print(page, listed == 0, console);
                listed += page.resources().size();
                after = page.next();
            } while (after.isPresent());
        } catch (UnsupportedOperationException e) {
            throw StoreOptions.cannotList(e);
        }
        if (listed == 0) {
            console.say(nothing(prefix));
        }
        return ExitCode.OK.number();
    }

    static String nothing(String prefix) {
        return "nothing is held" + (prefix.isEmpty() ? "" : " whose name begins with " + Text.quoted(prefix));
    }

    private void print(ResourcePage page, boolean isFirst, Console console) {
        if (json) {
            for (ListedResource resource : page.resources()) {
                console.answer(HolderReport.json(resource).toString());
            }
        } else if (!page.resources().isEmpty()) {
            ResourceTable table = new ResourceTable(page.resources());
            if (isFirst) {
                console.answer(table.heading());
            }
            table.lines().forEach(console::answer);
        }
    }
}
