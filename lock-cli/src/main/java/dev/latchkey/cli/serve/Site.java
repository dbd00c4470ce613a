package dev.latchkey.cli.serve;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import dev.latchkey.LockFactory;
import dev.latchkey.console.EndOfHold;
import dev.latchkey.console.Feed;
import dev.latchkey.console.Json;
import dev.latchkey.console.Message;
import dev.latchkey.console.PageFile;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Answers each request: the page, its data, and the end of a hold. */
final class Site implements HttpHandler {

    /** A name of the longest kind, each byte of it written as three. */
    private static final int LONGEST_BODY = 64 * 1024;

    /** A form of another page cannot set it, and a script of another page may not. */
    private static final String MARK = "X-Latchkey";

    static final Duration LONGEST_READ = Duration.ofSeconds(30);

    private final LockFactory locks;
    private final ServerSettings settings;
    private final Feed feed;
    private final EventStreams streams;
    private final WriteWatch writes;
    private final RequestThreads threads;
    private final RequestGuard guard;
    private final Sessions sessions;
    private final Map<String, PageFile> files = PageFile.all();

    Site(LockFactory locks, ServerSettings settings, Feed feed, WriteWatch writes, RequestThreads threads, int port) {
        this.locks = locks;
        this.settings = settings;
        this.feed = feed;
        this.writes = writes;
        this.threads = threads;
        streams = new EventStreams(feed, settings, writes);
        guard = new RequestGuard(settings.hosts());
        sessions = new Sessions(settings.authToken(), port);
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        boolean isData = path == null || path.startsWith("/api/");
        Optional<String> refusal = guard.refusal(exchange.getRequestHeaders(), exchange.getLocalAddress(), isData);
        if (refusal.isPresent()) {
            Answers.refuse(exchange, 403, refusal.get());
            return;
        }
        String method = exchange.getRequestMethod();
        if (!hasBody(exchange)) {
            threads.beNeeded();
        }
        PageFile file = path == null ? null : files.get(path.equals("/") ? PageFile.INDEX : path.substring(1));
        if (file != null && (method.equals("GET") || method.equals("HEAD"))) {
            Answers.send(exchange, 200, file.type(), file.bytes());
            return;
        }
        switch (method + " " + path) {
            case "GET /api/session" -> session(exchange);
            case "POST /api/session" -> login(exchange);
            case "GET /api/events" -> events(exchange);
            case "GET /api/locks" -> list(exchange);
            case "POST /api/break" -> end(exchange);
            default -> Answers.refuse(exchange, 404, "there is no such page");
        }
    }

    /** Whatever the method, the server reads the whole body before it ends the exchange. */
    private static boolean hasBody(HttpExchange exchange) {
        Headers headers = exchange.getRequestHeaders();
        return headers.containsKey("Content-Length") || headers.containsKey("Transfer-Encoding");
    }

    private void session(HttpExchange exchange) throws IOException {
        boolean isOpen = sessions.isOpen(exchange.getRequestHeaders());
        Answers.send(
                exchange, 200, new Json().put("needed", sessions.isNeeded()).put("open", isOpen));
    }

    private void login(HttpExchange exchange) throws IOException {
        Optional<Map<String, String>> form = form(exchange);
        if (form.isEmpty()) {
            Answers.refuse(exchange, 400, "this is not a form of the page");
            return;
        }
        Optional<String> cookie = sessions.begin(form.get().getOrDefault("secret", ""));
        if (cookie.isEmpty()) {
            Answers.refuse(exchange, 401, "this is not the token of this server");
            return;
        }
        exchange.getResponseHeaders().set("Set-Cookie", cookie.get());
        Answers.send(exchange, 200, new Json().put("open", true));
    }

    private void events(HttpExchange exchange) throws IOException {
        if (isOpen(exchange) && !streams.send(exchange)) {
            Answers.refuse(exchange, 503, "too many pages listen");
        }
    }

    private void list(HttpExchange exchange) throws IOException {
        if (!isOpen(exchange)) {
            return;
        }
        threads.beWaiting();
        try {
            Optional<Message> all = feed.all(LONGEST_READ);
            if (all.isEmpty()) {
                Answers.refuse(exchange, 504, "the store has not answered in time");
            } else {
                send(exchange, all.get());
            }
        } catch (InterruptedException e) {
            // The thread is needed, or the server is closed.
            Answers.refuse(exchange, 503, "the store has not answered yet, and too many wait for it");
        }
    }

    private void send(HttpExchange exchange, Message all) throws IOException {
        threads.beExpendable();
        writes.begin();
        try (exchange) {
            Answers.begin(exchange, Answers.JSON, 200, all.length());
            all.writeTo(exchange.getResponseBody());
        } finally {
            writes.end();
        }
    }

    private void end(HttpExchange exchange) throws IOException {
        if (!isOpen(exchange)) {
            return;
        }
        if (!settings.allowBreak()) {
            Answers.refuse(exchange, 403, "this page only shows: lock serve was started without --allow-break");
            return;
        }
        Optional<Map<String, String>> form = form(exchange);
        if (form.isEmpty() || !form.get().containsKey("resource") || !form.get().containsKey("token")) {
            Answers.refuse(exchange, 400, "say which resource and which fencing token");
            return;
        }
        EndOfHold end = EndOfHold.of(
                locks,
                settings.prefix(),
                form.get().getOrDefault("resource", ""),
                form.get().getOrDefault("token", ""));
        Answers.send(exchange, end.status(), end.json());
    }

    private boolean isOpen(HttpExchange exchange) throws IOException {
        if (sessions.isOpen(exchange.getRequestHeaders())) {
            return true;
        }
        Answers.refuse(exchange, 401, "this server asks for its token");
        return false;
    }

    /** Empty if it is not what our page sends. */
    private Optional<Map<String, String>> form(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(LONGEST_BODY + 1);
        threads.beNeeded();
        if (body.length > LONGEST_BODY || !exchange.getRequestHeaders().containsKey(MARK)) {
            return Optional.empty();
        }
        Map<String, String> form = new HashMap<>();
        try {
            for (String pair : new String(body, StandardCharsets.UTF_8).split("&", -1)) {
                int end = pair.indexOf('=');
                if (end > 0) {
                    form.put(
                            pair.substring(0, end), URLDecoder.decode(pair.substring(end + 1), StandardCharsets.UTF_8));
                }
            }
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
        return Optional.of(form);
    }
}
