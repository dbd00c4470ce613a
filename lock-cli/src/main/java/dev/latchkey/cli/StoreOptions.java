package dev.latchkey.cli;

import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of every verb: the store, and how much to print. */
final class StoreOptions {

    static final String VERBOSE = "--verbose";

    /** For whoever has named no store, or one that cannot list. */
    private static final String LISTING =
            "Redis, etcd, ZooKeeper, MongoDB, DynamoDB and SQL databases can: name one with --store or in LATCHKEY_STORE";

    private static final String STORE_VARIABLE = "LATCHKEY_STORE";
    private static final String DEFAULT_STORE = "flock";

    @Option(
            names = "--store",
            paramLabel = "DSN",
            description = "Where locks are kept, for instance flock, flock:///var/locks or redis://host. Default: the"
                    + " variable LATCHKEY_STORE, else flock: files in your state directory, for this machine.")
    private @Nullable String store;

    @Option(names = VERBOSE, description = "Report on stderr what happens, with stack traces.")
    private boolean verbose;

    String dsn() {
        if (store != null) {
            return store;
        }
        String fromEnvironment = System.getenv(STORE_VARIABLE);
        return fromEnvironment == null || fromEnvironment.isBlank() ? DEFAULT_STORE : fromEnvironment;
    }

    /** The store for people: without user, password and options, which may be secret. */
    String name() {
        String dsn = dsn();
        String scheme = dsn.replaceFirst("(?s):.*", "");
        try {
            URI uri = new URI(dsn);
            if (uri.getHost() != null) {
                return scheme + "://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort());
            }
        } catch (URISyntaxException e) {
            // Only the scheme is shown then.
        }
        return scheme;
    }

    static CommandException cannotList(@Nullable Throwable cause) {
        return new CommandException(
                ExitCode.USAGE,
                "this store cannot list what is held; " + LISTING + "; lock status NAME tells of one lock",
                cause);
    }

    Console console() {
        StderrLogger.setVerbose(verbose);
        return new Console(System.out, System.err, verbose);
    }
}
