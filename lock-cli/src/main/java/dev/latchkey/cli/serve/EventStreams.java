package dev.latchkey.cli.serve;

import com.sun.net.httpserver.HttpExchange;
import dev.latchkey.console.Feed;
import dev.latchkey.console.Json;
import dev.latchkey.console.Message;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/** Tells pages that listen what has changed, each on its own thread. One that is behind gets the whole of the newest snapshot. */
final class EventStreams {

    static final int MOST = 100;

    private static final Duration SILENCE = Duration.ofSeconds(2);

    /** A comment, which no page gets to see. Without it, nobody would notice that a page has gone. */
    private static final byte[] ALIVE = bytes(":\n\n");

    private static final byte[] END = bytes("\n\n");

    private final Feed feed;
    private final ServerSettings settings;
    private final WriteWatch watch;
    private final Semaphore free = new Semaphore(MOST);

    EventStreams(Feed feed, ServerSettings settings, WriteWatch watch) {
        this.feed = feed;
        this.settings = settings;
        this.watch = watch;
    }

    /** Returns false at once if too many listen. */
    boolean send(HttpExchange exchange) throws IOException {
        if (!free.tryAcquire()) {
            return false;
        }
        try (exchange;
                Feed.Listener listener = feed.listen()) {
            Answers.begin(exchange, "text/event-stream; charset=utf-8", 200, 0);
            listen(exchange.getResponseBody(), listener);
        } catch (InterruptedException e) {
            // Only the watch interrupts it, in vain: the write had just ended. The page connects anew.
        } finally {
            free.release();
        }
        return true;
    }

    private void listen(OutputStream out, Feed.Listener listener) throws IOException, InterruptedException {
        out.write(bytes("event: hello\ndata: " + hello() + "\n\n"));
        out.flush();
        while (!feed.isClosed()) {
            write(out, listener.next(SILENCE));
        }
    }

    private Json hello() {
        return new Json()
                .put("store", settings.store())
                .put("prefix", settings.prefix())
                .put("allowBreak", settings.allowBreak());
    }

    private void write(OutputStream out, Message message) throws IOException {
        watch.begin();
        try {
            if (message.kind() == Message.Kind.SAME) {
                out.write(ALIVE);
            } else {
                out.write(bytes("event: " + message.event() + "\ndata: "));
                message.writeTo(out);
                out.write(END);
            }
            out.flush();
        } finally {
            watch.end();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
