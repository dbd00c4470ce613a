package dev.latchkey.memcached;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import net.spy.memcached.ConnectionObserver;
import net.spy.memcached.MemcachedClient;
import org.jspecify.annotations.Nullable;

/**
 * A client of the store's own. The driver resolves a host once, and goes on connecting to that address for ever: while there
 * is no connection the host is therefore resolved again, and a client of the new address made if it is another one.
 *
 * <p>A client that answers nothing for long is replaced also at the same address. The driver's one thread may have ended by an
 * error, or may connect again only when the wall clock, which was set back, shows a later time; and what cannot be sent stays in
 * its queue, also when it was given up.
 */
final class OwnClient implements ClientAccess {

    /** Finds the address of a host. */
    @FunctionalInterface
    interface Resolver {
        InetAddress resolve(String host) throws UnknownHostException;
    }

    private static final long RESOLVED_AGAIN_NANOS = Duration.ofSeconds(1).toNanos();

    private record Open(MemcachedClient client, InetAddress address) {}

    private final Dsn dsn;
    private final Resolver resolver;
    private final AtomicLong connections = new AtomicLong();
    private final Silence silence;
    private final ReentrantLock guard = new ReentrantLock();
    private volatile @Nullable Open open;
    private long resolvedNanos;
    private boolean closed;

    OwnClient(Dsn dsn, Resolver resolver) {
        this.dsn = dsn;
        this.resolver = resolver;
        this.silence = new Silence(dsn.timeout());
    }

    @Override
    public MemcachedClient client(String resource) {
        Open known = open;
        if (known != null && isConnected(known) && !silence.isLong()) {
            return known.client();
        }
        if (known == null) {
            guard.lock();
        } else if (!guard.tryLock()) {
            // Somebody looks already; the client at hand connects again if the address is still the same.
            return known.client();
        }
        try {
            return looked(resource);
        } finally {
            guard.unlock();
        }
    }

    private MemcachedClient looked(String resource) {
        Open known = open;
        if (known != null && (closed || System.nanoTime() - resolvedNanos < RESOLVED_AGAIN_NANOS)) {
            return known.client();
        }
        if (closed) {
            throw new LockStorageException(resource, "the Memcached store was closed", null, Failure.NOT_SENT);
        }
        InetAddress address;
        try {
            address = resolver.resolve(dsn.host());
        } catch (UnknownHostException e) {
            if (known != null) {
                resolvedNanos = System.nanoTime();
                return known.client();
            }
            throw new LockStorageException(
                    resource,
                    "the host \"" + dsn.host() + "\" of the Memcached server is unknown",
                    e,
                    Failure.NOT_SENT);
        }
        resolvedNanos = System.nanoTime();
        if (known != null && known.address().equals(address) && !silence.isLong()) {
            return known.client();
        }
        try {
            return opened(known, address);
        } catch (UncheckedIOException e) {
            // No file is to be had: the one that there is goes on, and for a while no other is tried.
            silence.end();
            if (known != null) {
                return known.client();
            }
            throw new LockStorageException(resource, "could not open a client of Memcached", e, Failure.NOT_SENT);
        }
    }

    private MemcachedClient opened(@Nullable Open former, InetAddress address) {
        MemcachedClient client =
                Clients.open(dsn, new InetSocketAddress(address, dsn.port()), dsn.timeout(), new ConnectionObserver() {
                    @Override
                    public void connectionEstablished(SocketAddress server, int attempts) {
                        connections.incrementAndGet();
                    }

                    @Override
                    public void connectionLost(SocketAddress server) {}
                });
        open = new Open(client, address);
        silence.end();
        if (former != null) {
            former.client().shutdown();
        }
        return client;
    }

    private static boolean isConnected(Open known) {
        return known.client().getNodeLocator().getAll().stream().allMatch(node -> node.isActive());
    }

    @Override
    public long outage() {
        long before = connections.get();
        Open known = open;
        return known == null || !isConnected(known) ? before : CONNECTED;
    }

    @Override
    public void answered() {
        silence.end();
    }

    @Override
    public void unanswered() {
        silence.unanswered();
    }

    @Override
    public void close() {
        guard.lock();
        try {
            closed = true;
            Open known = open;
            if (known != null) {
                known.client().shutdown();
            }
        } finally {
            guard.unlock();
        }
    }
}
