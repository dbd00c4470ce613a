package dev.latchkey.cli;

import dev.latchkey.Capability;
import dev.latchkey.LockFactory;
import dev.latchkey.cli.serve.LockServer;
import dev.latchkey.cli.serve.ServerSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lock serve}: a page that shows what is held, as it changes. */
@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        versionProvider = LockCommand.Version.class,
        description =
                "Serves a page that shows what is held, by whom, who waits, and what happened in the last ten minutes,"
                        + " until a signal comes. Prints the address of the page. The store is read only while a page is open.",
        customSynopsis = "lock serve [OPTIONS] [PREFIX]",
        sortOptions = false,
        footerHeading = "%n",
        footer = {
            HelpText.DURATIONS,
            "",
            "Without a secret, every user of this machine can open the page. The secret and the page",
            "travel as they are: from other machines, use it behind a proxy with TLS, or an SSH tunnel.",
            "",
            "Exit codes:",
            "  128+n       signal n ended it",
            HelpText.FAILURES,
            "  74          the address could not be written to stdout",
        })
final class ServeCommand implements Callable<Integer> {

    private static final int SHORTEST_TOKEN = 16;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "PREFIX",
            description = "What the names of the shown resources begin with; all, if it is left out.")
    private String prefix = "";

    @Option(names = "--port", paramLabel = "N", description = "Default: ${DEFAULT-VALUE}; 0: any that is free.")
    private int port = 8410;

    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "Default: ${DEFAULT-VALUE}. Another than this machine's own needs --auth-token-file.")
    private String bind = "127.0.0.1";

    @Option(
            names = "--host",
            paramLabel = "NAME",
            description = "A name under which the page is reached, as that of a proxy. Requests to others are refused.")
    private List<String> hosts = new ArrayList<>();

    @Option(
            names = "--auth-token-file",
            paramLabel = "FILE",
            description = "The first line of this file is a secret that the page asks for.")
    private @Nullable Path authTokenFile;

    @Option(names = "--allow-break", description = "Let a hold be ended from the page, by its fencing token.")
    private boolean allowBreak;

    @Mixin
    private IntervalOption interval = new IntervalOption();

    @Mixin
    private StoreOptions store = new StoreOptions();

    @Override
    public Integer call() throws InterruptedException {
        Console console = store.console();
        ServerSettings settings = settings();
        Inbox inbox = new Inbox();
        Signals.deliverTo(inbox);
        try (LockFactory locks = LockFactory.connect(store.dsn())) {
            if (!locks.supports(Capability.LISTING)) {
                throw StoreOptions.cannotList(null);
            }
            try (LockServer server = LockServer.start(locks, settings)) {
                console.answer(server.url());
                while (true) {
                    if (inbox.next() instanceof Event.Signalled signalled) {
                        return signalled.signal().exitCode();
                    }
                }
            } catch (IOException e) {
                throw new CommandException(
                        ExitCode.UNAVAILABLE, "cannot listen at " + bind + ":" + port + ": " + e.getMessage(), e);
            }
        }
    }

    private ServerSettings settings() {
        if (port < 0 || port > 65535) {
            throw wrong("--port is from 0 to 65535");
        }
        InetAddress address = address();
        Optional<String> secret = secret();
        if (!address.isLoopbackAddress() && secret.isEmpty()) {
            throw wrong("--bind " + bind + " can be reached from other machines: it needs --auth-token-file");
        }
        return new ServerSettings(
                new InetSocketAddress(address, port),
                hosts,
                secret,
                allowBreak,
                interval.duration(),
                prefix,
                store.name());
    }

    private InetAddress address() {
        try {
            return InetAddress.getByName(bind);
        } catch (UnknownHostException e) {
            throw wrong("--bind " + bind + " is not an address");
        }
    }

    private Optional<String> secret() {
        if (authTokenFile == null) {
            return Optional.empty();
        }
        try {
            String secret = Files.readString(authTokenFile)
                    .lines()
                    .findFirst()
                    .orElse("")
                    .strip();
            if (secret.length() < SHORTEST_TOKEN) {
                throw wrong(
                        "the first line of --auth-token-file has to have " + SHORTEST_TOKEN + " characters at least");
            }
            return Optional.of(secret);
        } catch (IOException e) {
            throw new CommandException(ExitCode.USAGE, "cannot read --auth-token-file: " + e.getMessage(), e);
        }
    }

    private static CommandException wrong(String message) {
        return new CommandException(ExitCode.USAGE, message, null);
    }
}
