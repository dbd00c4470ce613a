package dev.latchkey.benchmarks;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.memcached.MemcachedStore;
import dev.latchkey.testkit.MemcachedServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import net.spy.memcached.CASResponse;
import net.spy.memcached.CASValue;
import net.spy.memcached.MemcachedClient;

/**
 * The Memcached store beside the least that locks there, on the same client: {@code add} and {@code delete}, which is also
 * all that ShedLock's provider sends and does not look whose lock it deletes; and {@code add}, {@code gets} and
 * {@code cas}, which does.
 */
final class Memcached {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** A date before the server was started. */
    private static final int LONG_AGO = (int) TimeUnit.DAYS.toSeconds(30) + 1;

    private Memcached() {}

    static void run() {
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SLF4JLogger");
        try (MemcachedServer server = MemcachedServer.start()) {
            MemcachedClient client = new MemcachedClient(new InetSocketAddress(
                    server.address().host(), server.address().port()));
            try (MemcachedStore store = MemcachedStore.builder(client).build();
                    LockFactory locks = new LockFactory(store)) {
                Race.printHead("server of 2 threads");
                new Race("uncontended: 1 thread", contenders(locks, client), 1).print();
                new Race("contended: 8 threads, one lock", contenders(locks, client), 8).print();
            } finally {
                client.shutdown();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no client", e);
        }
    }

    private static Map<String, Contender.Cycles> contenders(LockFactory locks, MemcachedClient client) {
        Map<String, Contender.Cycles> contenders = new LinkedHashMap<>();
        contenders.put("Latchkey", resource -> {
            Lock lock = locks.createLock(resource, TTL);
            return () -> lock.acquire().release();
        });
        contenders.put("Latchkey, shared", resource -> {
            Lock lock = locks.createLock(resource + "-shared", TTL);
            return () -> lock.acquireShared().release();
        });
        contenders.put("add + gets + cas, asked every 5 ms", resource -> {
            String name = resource + "-owned";
            return () -> {
                String token = add(client, name);
                CASValue<Object> held = client.gets(name);
                return held.getValue().equals(token)
                        && client.cas(name, held.getCas(), LONG_AGO, "", client.getTranscoder()) == CASResponse.OK;
            };
        });
        contenders.put("add + delete, asked every 5 ms", resource -> {
            String name = resource + "-bare";
            return () -> {
                add(client, name);
                return client.delete(name).get();
            };
        });
        return contenders;
    }

    private static String add(MemcachedClient client, String name) throws InterruptedException, ExecutionException {
        String token = UUID.randomUUID().toString();
        while (!client.add(name, (int) TTL.toSeconds(), token).get()) {
            LockSupport.parkNanos(POLL_NANOS);
        }
        return token;
    }
}
