package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.memcached.MemcachedStore;
import dev.latchkey.servers.MemcachedServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import net.spy.memcached.CASResponse;
import net.spy.memcached.CASValue;
import net.spy.memcached.MemcachedClient;

/**
 * The Memcached store beside the least that locks there, on the same client: {@code add} and {@code delete}, which is also
 * all that ShedLock's provider sends and does not look whose lock it deletes; and {@code add}, {@code gets} and
 * {@code cas}, which does.
 */
final class Memcached implements Contest {

    private static final String WITHOUT = "waiting (asks every 5 ms), sharing, word of a loss";

    /** A date before the server was started. */
    private static final int LONG_AGO = (int) TimeUnit.DAYS.toSeconds(30) + 1;

    private static final List<Contender> ALL = List.of(
            Contender.latchkey(address -> Ours.exclusive(locks(address))),
            Contender.latchkeyShared(address -> Ours.shared(locks(address))),
            Contender.floor("add + gets + cas", WITHOUT, address -> owned(client(address))),
            Contender.floor(
                    "add + delete, as ShedLock does",
                    "owner check at release: it may delete a successor's lock; " + WITHOUT,
                    address -> bare(client(address))));

    @Override
    public String store() {
        return "memcached";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    @Override
    public List<Table> tables() {
        return List.of(Table.alone(Placement.ONE_PROCESSOR, ALL), Table.threads(Placement.ONE_PROCESSOR, ALL));
    }

    @Override
    public Servers start() {
        MemcachedServer server = MemcachedServer.start();
        String version = server.call("version").get(0).replace("VERSION ", "Memcached ");
        return new Servers(server.dsn(), version + " with 2 threads", null, server::close);
    }

    private static LockFactory locks(String address) throws IOException {
        return new LockFactory(MemcachedStore.builder(client(address)).build());
    }

    private static MemcachedClient client(String address) throws IOException {
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SLF4JLogger");
        URI uri = URI.create(address);
        return new MemcachedClient(new InetSocketAddress(uri.getHost(), uri.getPort()));
    }

    private static Contender.Client owned(MemcachedClient client) {
        return resource -> new Cycle() {
            private final String name = name("owned", resource);
            private String token = "";

            @Override
            public void take() throws Exception {
                token = UUID.randomUUID().toString();
                Cycle.poll(() -> isAdded(client, name, token));
            }

            @Override
            public boolean giveUp() {
                CASValue<Object> held = client.gets(name);
                return held.getValue().equals(token)
                        && client.cas(name, held.getCas(), LONG_AGO, "", client.getTranscoder()) == CASResponse.OK;
            }
        };
    }

    private static Contender.Client bare(MemcachedClient client) {
        return resource -> new Cycle() {
            private final String name = name("bare", resource);

            @Override
            public void take() throws Exception {
                String token = UUID.randomUUID().toString();
                Cycle.poll(() -> isAdded(client, name, token));
            }

            @Override
            public boolean giveUp() throws Exception {
                return client.delete(name).get();
            }
        };
    }

    /** Names of the text protocol have no blanks. */
    private static String name(String prefix, String resource) {
        return prefix + "-" + resource.replaceAll("\\W", "-");
    }

    private static boolean isAdded(MemcachedClient client, String name, String token)
            throws InterruptedException, ExecutionException {
        return client.add(name, (int) Ours.TTL.toSeconds(), token).get();
    }

    @Override
    public List<String> libraries() {
        return List.of("spymemcached");
    }
}
