package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The way to all servers that a DSN names, through a {@link FaultProxy} each. */
final class Detour implements AutoCloseable {

    private static final Pattern ADDRESS = Pattern.compile("([\\w.-]+):(\\d{2,5})(?=[/?&,;)]|$)");

    private final List<FaultProxy> proxies = new ArrayList<>();
    private final String dsn;

    /**
     * Opens proxies that do no harm yet.
     *
     * @param direct names at least one server with its port
     */
    Detour(String direct) {
        this.dsn = ADDRESS.matcher(direct).replaceAll(this::throughProxy);
        assertThat(proxies).as("addresses in the DSN").isNotEmpty();
    }

    private String throughProxy(MatchResult address) {
        FaultProxy proxy = FaultProxy.to(new ServerAddress(address.group(1), Integer.parseInt(address.group(2))));
        proxies.add(proxy);
        return Matcher.quoteReplacement(proxy.address().toString());
    }

    /** The DSN by this way. */
    String dsn() {
        return dsn;
    }

    void each(Consumer<? super FaultProxy> what) {
        proxies.forEach(what);
    }

    /** Passes everything on again, as fast as it comes. */
    void heal() {
        each(proxy -> {
            proxy.delay(Duration.ZERO);
            proxy.heal();
        });
    }

    @Override
    public void close() {
        each(FaultProxy::close);
    }
}
