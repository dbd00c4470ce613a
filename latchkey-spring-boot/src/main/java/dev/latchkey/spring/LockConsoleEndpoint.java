package dev.latchkey.spring;

import dev.latchkey.Capability;
import dev.latchkey.LockFactory;
import dev.latchkey.console.EndOfHold;
import dev.latchkey.console.Feed;
import dev.latchkey.console.Json;
import dev.latchkey.console.PageFile;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.util.MimeType;
import org.springframework.util.MimeTypeUtils;

/**
 * {@code /actuator/lockconsole}: the page that shows what is held in the store, by whichever process. It can end a hold only where the access to
 * this endpoint is unrestricted. Shows no token.
 */
@WebEndpoint(id = LockConsoleEndpoint.ID, defaultAccess = Access.READ_ONLY)
class LockConsoleEndpoint implements AutoCloseable {

    static final String ID = "lockconsole";

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

    /** A store that hangs must not keep more threads of the application than that. */
    private static final int MOST_WAITING = 8;

    private final Supplier<LockFactory> locks;
    private final Supplier<String> store;
    private final String prefix;
    private final Supplier<String> path;
    private final Access access;
    private final Map<String, PageFile> files = PageFile.all();
    private final Semaphore waiting = new Semaphore(MOST_WAITING);
    private @Nullable Feed feed;

    /**
     * Creates it.
     *
     * @param locks asked for when somebody first looks, which opens the store
     * @param store the name of the store
     * @param prefix what the names of the shown resources begin with
     * @param path the last part of the path of this endpoint
     * @param access what is allowed here
     */
    LockConsoleEndpoint(
            Supplier<LockFactory> locks, Supplier<String> store, String prefix, Supplier<String> path, Access access) {
        this.locks = locks;
        this.store = store;
        this.prefix = prefix;
        this.path = path;
        this.access = access;
    }

    /** The page. What it asks for is below the endpoint, wherever that is. */
    @ReadOperation(produces = "text/html")
    WebEndpointResponse<Resource> page() {
        PageFile index = Objects.requireNonNull(files.get(PageFile.INDEX));
        String html = index.text().replace("<head>", "<head>\n<base href=\"" + path.get() + "/\">");
        return answer(200, index.type(), html);
    }

    /** The other files of the page, and its data. */
    @ReadOperation(produces = {"application/json", "text/css", "text/javascript", "image/svg+xml"})
    WebEndpointResponse<Resource> get(
            @Selector(match = Selector.Match.ALL_REMAINING) String[] parts, @Nullable String since)
            throws InterruptedException {
        String name = String.join("/", parts);
        PageFile file = files.get(name);
        if (file != null) {
            return answer(200, file.type(), file.text());
        }
        return switch (name) {
            case "api/session" -> json(200, session());
            case "api/changes" -> changes(since == null ? "" : since);
            default -> json(404, new Json().put("error", "there is no such page"));
        };
    }

    /** Ends a hold. */
    @WriteOperation
    WebEndpointResponse<Resource> post(
            @Selector(match = Selector.Match.ALL_REMAINING) String[] parts, String resource, String token) {
        if (!String.join("/", parts).equals("api/break")) {
            return json(404, new Json().put("error", "there is no such page"));
        }
        EndOfHold end = EndOfHold.of(locks.get(), prefix, resource, token);
        return json(end.status(), end.json());
    }

    private Json session() {
        return new Json()
                .put("open", true)
                .put("asksEvery", (Long) INTERVAL.toMillis())
                .put("store", store.get())
                .put("prefix", prefix)
                .put("allowBreak", access == Access.UNRESTRICTED && locks.get().supports(Capability.FORCE_RELEASE));
    }

    private WebEndpointResponse<Resource> changes(String since) throws InterruptedException {
        boolean mayWait = waiting.tryAcquire();
        try {
            Resource changes = new MessageResource(feed().since(since, mayWait ? LONGEST_WAIT : Duration.ZERO));
            return answer(200, MimeTypeUtils.APPLICATION_JSON, changes);
        } finally {
            if (mayWait) {
                waiting.release();
            }
        }
    }

    private synchronized Feed feed() {
        Feed open = feed;
        if (open == null) {
            open = new Feed(locks.get(), prefix, INTERVAL);
            feed = open;
        }
        return open;
    }

    private static WebEndpointResponse<Resource> json(int status, Json json) {
        return answer(status, MimeTypeUtils.APPLICATION_JSON_VALUE, json.toString());
    }

    private static WebEndpointResponse<Resource> answer(int status, String type, String text) {
        Resource body = new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8));
        return answer(status, MimeType.valueOf(type), body);
    }

    private static WebEndpointResponse<Resource> answer(int status, MimeType type, Resource body) {
        AnswerHeaders.set(PageFile.headers());
        return new WebEndpointResponse<>(body, status, type);
    }

    @Override
    public synchronized void close() {
        if (feed != null) {
            feed.close();
        }
    }
}
