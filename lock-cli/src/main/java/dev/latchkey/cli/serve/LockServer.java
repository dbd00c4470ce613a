package dev.latchkey.cli.serve;

import com.sun.net.httpserver.HttpServer;
import dev.latchkey.LockFactory;
import dev.latchkey.console.Feed;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Shows what is held in a store to browsers. It does not close the factory that it reads from. */
public final class LockServer implements AutoCloseable {

    private static final Duration LONGEST_WRITE = Duration.ofSeconds(20);

    /** Each page that listens has a thread; these are for all else. */
    private static final int OTHER_THREADS = 28;

    private static final int BACKLOG = 100;

    /** Of many requests that come at once, those that are being answered are not given up for the others. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    private final HttpServer http;
    private final List<String> hosts;
    private final Feed feed;
    private final RequestThreads threads;
    private final ScheduledExecutorService watch;

    private LockServer(LockFactory locks, ServerSettings settings, Duration longestWrite) throws IOException {
        // Read once, by the first server of the JVM: who does not finish a request, loses the connection.
        setUnlessSet("sun.net.httpserver.maxReqTime", "20");
        setUnlessSet("sun.net.httpserver.nodelay", "true");
        hosts = settings.hosts();
        http = HttpServer.create(settings.bind(), BACKLOG);
        feed = new Feed(locks, settings.prefix(), settings.interval());
        WriteWatch writes = new WriteWatch(longestWrite);
        threads = new RequestThreads(EventStreams.MOST + OTHER_THREADS, GRACE);
        watch = Executors.newSingleThreadScheduledExecutor(LockServer::watchThread);
        http.setExecutor(threads);
        http.createContext(
                "/",
                new Site(
                        locks,
                        settings,
                        feed,
                        writes,
                        threads,
                        http.getAddress().getPort()));
        long period = Math.max(1, longestWrite.toMillis() / 4);
        Object unused = watch.scheduleWithFixedDelay(writes::closeStuck, period, period, TimeUnit.MILLISECONDS);
        unused = watch.scheduleWithFixedDelay(
                threads::makeRoom, GRACE.toMillis(), GRACE.toMillis() / 4, TimeUnit.MILLISECONDS);
    }

    /**
     * Starts a server.
     *
     * @param locks what it reads from
     * @param settings what it shows, and to whom
     * @return the server, until it is closed
     * @throws IOException if the address cannot be used
     */
    public static LockServer start(LockFactory locks, ServerSettings settings) throws IOException {
        return start(locks, settings, LONGEST_WRITE);
    }

    static LockServer start(LockFactory locks, ServerSettings settings, Duration longestWrite) throws IOException {
        LockServer server = new LockServer(locks, settings, longestWrite);
        server.http.start();
        return server;
    }

    private static void setUnlessSet(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    private static Thread watchThread(Runnable task) {
        Thread thread = new Thread(task, "lock-serve-watch");
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Returns where the page is.
     *
     * @return a URL that ends with a slash
     */
    public String url() {
        InetSocketAddress address = http.getAddress();
        if (!address.getAddress().isAnyLocalAddress()) {
            return url(RequestGuard.literal(address.getAddress()));
        }
        // Nobody can go to such an address. A host may be named with its port, which is then that of a proxy.
        String host = hosts.isEmpty() ? RequestGuard.literal(InetAddress.getLoopbackAddress()) : hosts.get(0);
        return host.matches("([^:]+|\\[.*]):[0-9]+") ? "http://" + host + "/" : url(host);
    }

    private String url(String host) {
        return "http://" + host + ":" + http.getAddress().getPort() + "/";
    }

    @Override
    public void close() {
        feed.close();
        http.stop(0);
        watch.shutdownNow();
        threads.close();
    }
}
