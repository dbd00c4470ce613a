package dev.latchkey.servers;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Goes through the ways to get a server, in their order, until one works; says why each did not when none does. */
final class ServerSearch {

    private final String wanted;
    private final String remedy;
    private final List<Way> ways = new ArrayList<>();

    private record Way(String name, Supplier<Optional<Launcher>> find) {}

    /**
     * Begins.
     *
     * @param wanted the kind of server
     * @param remedy the line that would make a server available
     */
    ServerSearch(String wanted, String remedy) {
        this.wanted = wanted;
        this.remedy = remedy;
    }

    ServerSearch or(String name, Supplier<Optional<Launcher>> find) {
        ways.add(new Way(name, find));
        return this;
    }

    /**
     * Returns the first way that is there and works.
     *
     * @param trial starts a server and ends it again; throws if that fails
     * @throws AssertionError if there is none
     */
    Launcher first(Consumer<Launcher> trial) {
        List<Throwable> failures = new ArrayList<>();
        for (Way way : ways) {
            try {
                Optional<Launcher> found = way.find().get();
                if (found.isPresent()) {
                    trial.accept(found.get());
                    return found.get();
                }
            } catch (AssertionError | RuntimeException | LinkageError e) {
                failures.add(e);
            }
        }
        List<String> tried = ways.stream().map(Way::name).toList();
        String reasons = failures.isEmpty() ? "" : " " + failures;
        AssertionError none = new AssertionError("no " + wanted + " for this test; there is none by " + tried
                + " that works" + reasons + ". One of these would do: " + remedy);
        failures.forEach(none::addSuppressed);
        throw none;
    }
}
