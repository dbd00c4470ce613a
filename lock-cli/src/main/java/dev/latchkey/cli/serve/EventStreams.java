package dev.latchkey.cli.serve;

import com.sun.net.httpserver.HttpExchange;
import dev.latchkey.cli.text.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/** Sends snapshots to pages that listen, each on its own thread. One that is behind gets the whole of the newest snapshot. */
final class EventStreams {

    static final int MOST = 100;

    private static final Duration SILENCE = Duration.ofSeconds(2);

    /** A comment, which no page gets to see. Without it, nobody would notice that a page has gone. */
    private static final String ALIVE = ":\n\n";

    private final Feed feed;
    private final ServerSettings settings;
    private final long longestWriteNanos;
    private final Semaphore free = new Semaphore(MOST);

    /** Which thread has been writing since when. */
    private final Map<Thread, Long> writing = new ConcurrentHashMap<>();

    EventStreams(Feed feed, ServerSettings settings, Duration longestWrite) {
        this.feed = feed;
        this.settings = settings;
        longestWriteNanos = longestWrite.toNanos();
    }

    /** Returns false at once if too many listen. */
    boolean send(HttpExchange exchange) throws IOException {
        if (!free.tryAcquire()) {
            return false;
        }
        long seen = feed.join();
        try (exchange) {
            Answers.begin(exchange, "text/event-stream; charset=utf-8", 200, 0);
            listen(exchange.getResponseBody(), seen);
        } catch (InterruptedException e) {
            // Only closeStuck interrupts it, in vain: the write had just ended. The page connects anew.
        } finally {
            feed.leave();
            free.release();
        }
        return true;
    }

    private void listen(OutputStream out, long after) throws IOException, InterruptedException {
        write(out, Snapshot.event("hello", hello().toString()));
        long seen = after;
        boolean hasAll = false;
        while (!feed.isClosed()) {
            Optional<Snapshot> next = feed.awaitAfter(seen, SILENCE);
            if (next.isEmpty()) {
                Json json = new Json().put("now", (Long) feed.clock().millis());
                write(out, feed.isSlow() ? Snapshot.event("slow", json.toString()) : ALIVE);
                continue;
            }
            Snapshot snapshot = next.get();
            boolean isNext = hasAll && snapshot.version() == seen + 1;
            write(out, isNext ? snapshot.change() : snapshot.all(feed.clock()));
            seen = snapshot.version();
            hasAll = true;
        }
    }

    private Json hello() {
        return new Json()
                .put("store", settings.store())
                .put("prefix", settings.prefix())
                .put("allowBreak", settings.allowBreak());
    }

    private void write(OutputStream out, String event) throws IOException {
        writing.put(Thread.currentThread(), System.nanoTime());
        try {
            out.write(event.getBytes(StandardCharsets.UTF_8));
            out.flush();
        } finally {
            writing.remove(Thread.currentThread());
        }
    }

    /** A page that never reads would keep its thread for ever: the interrupt closes its channel. */
    void closeStuck() {
        long now = System.nanoTime();
        writing.forEach((thread, since) -> {
            if (now - since > longestWriteNanos) {
                thread.interrupt();
            }
        });
    }
}
