package dev.latchkey.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.Headers;
import dev.latchkey.cli.PlentyStore;
import dev.latchkey.console.Message;
import dev.latchkey.testkit.TimeLimits;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Over plain sockets, for a client of Java sets its own Host and Origin. */
class LockServerTest {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final String SECRET = "correct-horse-battery";

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "127.0.0.1:PORT; 200",
                "localhost:PORT; 200",
                "LOCALHOST:PORT; 200",
                "locks.example.org; 200",
                "locks.example.org:PORT; 200",
                "evil.example; 403",
                "evil.example:PORT; 403",
                "127.0.0.1:1; 403",
                "127.0.0.1; 403",
                "127.0.0.1:PORT.evil.example; 403",
                "127.0.0.1:PORT@evil.example; 403",
                "localhost.evil.example:PORT; 403",
            })
    void givenHost_whenAsked_thenOnlyItsOwnIsAnswered(String host, int status) throws IOException {
        ServedStore served = served(PlentyStore.of(3));
        String name = host.replace("PORT", Integer.toString(served.port()));

        for (String path : List.of("/", "/api/locks")) {
            assertThat(ask(served, "GET " + path, "Host: " + name)).startsWith("HTTP/1.1 " + status + " ");
        }
    }

    @ParameterizedTest
    @CsvSource({"0.0.0.0", "::"})
    void givenAnyAddress_whenThePrintedOneIsAsked_thenAnswered(String bind) throws IOException {
        ServedStore served = track(new ServedStore(PlentyStore.of(1), settings(bind, "", ServedStore.INTERVAL)));

        assertThat(served.url()).isEqualTo("http://127.0.0.1:" + served.port() + "/");
        assertThat(ask(served, "GET /api/locks", host(served))).startsWith("HTTP/1.1 200 ");
    }

    @ParameterizedTest
    @CsvSource({
        "[2001:db8::1]:8410,true",
        "[2001:DB8:0:0:0::1]:8410,true",
        "[2001:db8::2]:8410,false",
        "[2001:db8::1,false",
        "[:::]:8410,false",
        "[::]:8410,false",
        "2001:db8::1:8410,false"
    })
    void givenIpv6_whenNamedInAnotherForm_thenItIsTheSame(String host, boolean isOwn) throws IOException {
        Headers headers = new Headers();
        headers.add("Host", host);

        for (RequestGuard guard : List.of(new RequestGuard(List.of()), new RequestGuard(List.of("[2001:0db8::1]")))) {
            var local = new InetSocketAddress(InetAddress.getByName("2001:db8::1"), 8410);
            assertThat(guard.refusal(headers, local, true).isEmpty()).isEqualTo(isOwn);
        }
    }

    @Test
    void givenNoHostOrTwo_whenAsked_thenRefused() throws IOException {
        ServedStore served = served(PlentyStore.of(3));

        assertThat(ask(served, "GET /api/locks", "X: y")).startsWith("HTTP/1.1 403 ");
        assertThat(ask(served, "GET /api/locks", host(served), "Host: evil.example"))
                .startsWith("HTTP/1.1 403 ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "Origin: http://127.0.0.1:PORT; 200",
                "Origin: http://evil.example; 403",
                "Origin: null; 403",
                "Origin: http://127.0.0.1:1; 403",
                "Origin: http://localhost:PORT; 403",
                "Sec-Fetch-Site: cross-site; 403",
                "Sec-Fetch-Site: same-site; 403",
                "Sec-Fetch-Site: same-origin; 200"
            })
    void givenOrigin_whenAskedForData_thenOnlyItsOwnIsAnswered(String header, int status) throws IOException {
        ServedStore served = served(PlentyStore.of(3));
        String line = header.replace("PORT", Integer.toString(served.port()));

        assertThat(ask(served, "GET /api/locks", host(served), line)).startsWith("HTTP/1.1 " + status + " ");
    }

    @Test
    void givenAnyAnswer_thenNotStoredAndNoForeignScript() throws IOException {
        ServedStore served = served(PlentyStore.odd());

        for (String path : List.of("/", "/page.js", "/page.css", "/api/locks", "/no/such", "/../../etc/passwd")) {
            assertThat(ask(served, "GET " + path, host(served)).toLowerCase(java.util.Locale.ROOT))
                    .as(path)
                    .contains("cache-control: no-store", "default-src 'none'; script-src 'self'", "nosniff");
        }
        assertThat(ask(served, "GET /../../etc/passwd", host(served))).startsWith("HTTP/1.1 404 ");
    }

    @Test
    void givenListed_thenTimesAndTokensAsText() throws IOException {
        String answer = ask(served(PlentyStore.of(1)), "GET /api/locks", "Host: locks.example.org");

        assertThat(answer).contains("\"name\":\"job-000000\"", "\"token\":\"1000\"", "\"complete\":true");
    }

    @Test
    void givenSecret_whenNotShown_then401AndNoData() throws IOException {
        ServedStore served = track(new ServedStore(PlentyStore.of(3), Optional.of(SECRET), true, 0));

        for (String request : List.of("GET /api/locks", "GET /api/events", "POST /api/break")) {
            assertThat(ask(served, request, host(served)))
                    .startsWith("HTTP/1.1 401 ")
                    .doesNotContain("job-", SECRET);
        }
        assertThat(ask(served, "GET /api/locks", host(served), "Authorization: Bearer wrong"))
                .startsWith("HTTP/1.1 401 ");
        assertThat(ask(served, "GET /api/locks", host(served), "Authorization: Bearer " + SECRET))
                .startsWith("HTTP/1.1 200 ");
    }

    @Test
    void givenSecretShownOnce_thenTheCookieOpens() throws IOException {
        ServedStore served = track(new ServedStore(PlentyStore.of(3), Optional.of(SECRET), false, 0));

        assertThat(post(served, "/api/session", "secret=wrong")).startsWith("HTTP/1.1 401 ");
        String answer = post(served, "/api/session", "secret=" + SECRET);
        String cookie = answer.replaceAll("(?si).*set-cookie: ([^;]*);.*", "$1");

        assertThat(answer).contains("HttpOnly; SameSite=Strict").doesNotContain(SECRET);
        assertThat(ask(served, "GET /api/locks", host(served), "Cookie: a=b; " + cookie))
                .startsWith("HTTP/1.1 200 ");
        assertThat(ask(served, "GET /api/locks", host(served), "Cookie: " + cookie + "x"))
                .startsWith("HTTP/1.1 401 ");
    }

    @Test
    void givenReadOnly_whenBroken_thenRefusedAndStillHeld() throws IOException {
        ServedStore served = served(PlentyStore.of(1));

        assertThat(post(served, "/api/break", "resource=job-000000&token=1000")).startsWith("HTTP/1.1 403 ");
        assertThat(served.store.holders("job-000000")).hasSize(1);
    }

    @Test
    void givenBreakAllowed_whenTheTokenIsThatOfTheHold_thenEnded() throws IOException {
        ServedStore served = track(new ServedStore(PlentyStore.of(1), Optional.empty(), true, 0));

        assertThat(post(served, "/api/break", "resource=job-000000&token=999")).endsWith("{\"ended\":false}");
        assertThat(post(served, "/api/break", "resource=job-000000&token=x")).startsWith("HTTP/1.1 400 ");
        assertThat(ask(served, "POST /api/break", host(served), "Content-Length: 0"))
                .startsWith("HTTP/1.1 400 ");
        assertThat(served.store.holders("job-000000")).hasSize(1);
        assertThat(post(served, "/api/break", "resource=job-000000&token=1000")).endsWith("{\"ended\":true}");
    }

    @Test
    void givenPrefix_whenAnotherNameIsBroken_thenRefusedAndStillHeld() throws IOException {
        PlentyStore store = PlentyStore.of(1);
        store.hold("mail", 7, 0);
        ServedStore served = track(new ServedStore(store, settings("127.0.0.1", "job-", ServedStore.INTERVAL)));

        assertThat(post(served, "/api/break", "resource=mail&token=7")).startsWith("HTTP/1.1 403 ");
        assertThat(store.holders("mail")).hasSize(1);
        assertThat(post(served, "/api/break", "resource=job-000000&token=1000")).endsWith("{\"ended\":true}");
    }

    @Test
    void givenADefectOfTheStore_whenItIsGone_thenBothAreToldAndBreakAnswers() throws Exception {
        ServedStore served = track(new ServedStore(PlentyStore.of(3), Optional.empty(), true, 0));
        try (Socket page = listen(served)) {
            BufferedReader events = reader(page);
            readUntil(events, "event: all");
            served.store.beDefective(true);
            readUntil(events, "event: trouble");
            assertThat(post(served, "/api/break", "resource=job-000000&token=1000"))
                    .startsWith("HTTP/1.1 500 ");
            served.store.beDefective(false);
            readUntil(events, "event: change");
        }
    }

    @Test
    @Tag("slow")
    void givenNobodyListens_thenTheStoreIsNotRead() throws Exception {
        ServedStore served = served(PlentyStore.of(3));
        try (Socket page = listen(served)) {
            readUntil(page, "event: all");
        }
        // The server learns of it when it next writes.
        long[] before = {-1};
        await().atMost(LIMIT)
                .pollInterval(ServedStore.INTERVAL.multipliedBy(10))
                .until(() -> {
                    long now = served.store.pages();
                    boolean isQuiet = now == before[0];
                    before[0] = now;
                    return isQuiet;
                });
    }

    @Test
    void givenManyListen_thenTheStoreIsReadOnceForAll() throws Exception {
        ServedStore served = served(PlentyStore.of(3));
        for (int i = 0; i < 40; i++) {
            readUntil(track(listen(served)), "event: all");
        }
        long began = System.nanoTime();
        long pages = served.store.pages();

        await().atMost(LIMIT).until(() -> served.store.pages() >= pages + 10);

        // Each reading is followed by the interval.
        assertThat(System.nanoTime() - began)
                .isGreaterThan(ServedStore.INTERVAL.multipliedBy(9).toNanos());
    }

    /** Whoever asks again and again must not cost the store more than one who listens. */
    @Test
    @Tag("slow")
    void givenAListingThatTakesLong_whenAskedAgainAndAgain_thenTheStoreRests() throws Exception {
        ServedStore served = served(PlentyStore.of(3));
        served.store.answerAfter(Duration.ofMillis(300));
        long began = System.nanoTime();

        do {
            assertThat(ask(served, "GET /api/locks", host(served))).startsWith("HTTP/1.1 200 ");
        } while (System.nanoTime() - began < Duration.ofSeconds(3).toNanos());

        long rests = (System.nanoTime() - began) / Duration.ofSeconds(30).toNanos();
        assertThat(served.store.pages()).isLessThanOrEqualTo(1 + rests);
    }

    /** Their threads, and what is to be written to them, would be kept for ever. */
    @Test
    void givenClientsThatNeverReadTheirList_thenTheyAreClosed() throws Exception {
        ServedStore served = impatient(PlentyStore.of(20_000));
        List<Socket> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Socket never = track(new Socket());
            never.setReceiveBufferSize(4096);
            never.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), served.port()));
            send(never, "GET /api/locks", host(served));
            all.add(never);
        }
        await().atMost(LIMIT).until(() -> threads("lock-serve") >= 20);
        for (Socket never : all) {
            readUntilList(never);
        }

        await().atMost(LIMIT).until(() -> threads("lock-serve") == 0 || !isWriting());
    }

    @Test
    void givenTooManyListen_then503AndOthersAreAnswered() throws Exception {
        ServedStore served = served(PlentyStore.of(3));
        for (int i = 0; i < EventStreams.MOST; i++) {
            readUntil(track(listen(served)), "event: hello");
        }

        // Of one that listens, the answer would have no end.
        Socket another = track(new Socket(InetAddress.getLoopbackAddress(), served.port()));
        send(another, "GET /api/events", host(served));
        assertThat(reader(another).readLine()).startsWith("HTTP/1.1 503 ");
        assertThat(ask(served, "GET /", host(served))).startsWith("HTTP/1.1 200 ");
    }

    @ParameterizedTest
    @Tag("slow")
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: ",
                "POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX-Latchkey: 1\r\nContent-Length: 50\r\n\r\nsecret=",
                "POST /api/locks HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 50\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n"
            })
    void givenManyHalfRequests_thenOthersAreAnsweredAndPagesGoOn(String half) throws Exception {
        ServedStore served = served(PlentyStore.of(10));
        BufferedReader page = reader(track(listen(served)));
        readUntil(page, "event: all");
        byte[] bytes = half.replace("PORT", Integer.toString(served.port())).getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 400; i++) {
            Socket socket = track(new Socket(InetAddress.getLoopbackAddress(), served.port()));
            socket.getOutputStream().write(bytes);
        }

        for (int i = 0; i < 50; i++) {
            assertThat(ask(served, "GET /api/locks", host(served))).startsWith("HTTP/1.1 200 ");
        }
        freeUntilToldAsGone(served, page);
    }

    /** Each of them would keep its thread for as long as the store hangs. */
    @Test
    @Tag("slow")
    void givenAReadingThatHangs_whenManyAskForIt_thenThePageIsAnswered() throws Exception {
        ServedStore served = served(PlentyStore.of(3));
        served.store.answerAfter(LIMIT);
        List<Socket> all = new ArrayList<>();
        for (int i = 0; i < 301; i++) {
            Socket one = track(new Socket(InetAddress.getLoopbackAddress(), served.port()));
            send(one, "GET /api/locks", host(served));
            all.add(one);
        }
        long began = System.nanoTime();

        assertThat(ask(served, "GET /", host(served))).startsWith("HTTP/1.1 200 ");

        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Site.LONGEST_READ);
        // The first, unless its thread has stood still before it waited for the store: that one is closed, or later.
        assertThat(all).anySatisfy(one -> assertThat(firstLine(one)).startsWith("HTTP/1.1 503 "));
    }

    /** Empty if it is closed instead. */
    private static String firstLine(Socket socket) throws IOException {
        try {
            String line = reader(socket).readLine();
            return line == null ? "" : line;
        } catch (SocketException e) {
            return "";
        }
    }

    /** Its thread would be stuck in a write for ever. */
    @Test
    void givenAClientThatNeverReads_thenItIsClosedAndOthersGoOn() throws Exception {
        ServedStore served = impatient(PlentyStore.of(20_000));
        Socket never = track(new Socket());
        never.setReceiveBufferSize(4096);
        never.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), served.port()));
        send(never, "GET /api/events", host(served));

        await().atMost(LIMIT).until(() -> threads("lock-serve") == 1);
        readUntilList(never);
        await().atMost(LIMIT).until(() -> threads("lock-serve") == 0 || !isWriting());
        assertThat(ask(served, "GET /", host(served))).startsWith("HTTP/1.1 200 ");
    }

    /**
     * That much only is read of what is too large to be sent unread: now it is being written, or it is closed already. No other
     * event has a list, and no header has its bracket.
     */
    private static void readUntilList(Socket socket) throws IOException {
        socket.setSoTimeout((int) LIMIT.toMillis());
        long began = System.nanoTime();
        int read;
        do {
            read = socket.getInputStream().read();
            requireWithinLimit(began, "a list");
        } while (read != '[' && read != -1);
    }

    private static long threads(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(name))
                .count();
    }

    private static boolean isWriting() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals("lock-serve"))
                .flatMap(thread -> java.util.Arrays.stream(thread.getValue()))
                .anyMatch(frame -> frame.getClassName().equals(Message.class.getName()));
    }

    @Test
    void givenStoreFails_whenItIsBack_thenBothAreTold() throws Exception {
        ServedStore served = served(PlentyStore.of(3));
        try (Socket page = listen(served)) {
            BufferedReader events = reader(page);
            readUntil(events, "event: all");
            served.store.failWith("no route to redis://me:hidden-word@host");
            assertThat(readUntil(events, "event: trouble")).doesNotContain("hidden-word");
            assertThat(events.readLine()).contains("no route to").doesNotContain("hidden-word");
            served.store.failWith(null);
            readUntil(events, "event: change");
        }
    }

    /** Between two readings of a long interval, nothing is slow; and a first listener need not wait for the end of the interval. */
    @Test
    @Tag("slow")
    void givenLongInterval_thenNothingIsSlowAndAListIsAnswered() throws Exception {
        ServedStore served =
                track(new ServedStore(PlentyStore.of(1), settings("127.0.0.1", "", Duration.ofMinutes(10))));
        try (Socket page = listen(served)) {
            BufferedReader events = reader(page);
            readUntil(events, "event: all");
            for (int i = 0; i < 3; i++) {
                assertThat(readUntil(events, ":"))
                        .as("other than data")
                        .satisfiesAnyOf(
                                line -> assertThat(line).isEqualTo(":"),
                                line -> assertThat(line).startsWith("data: "));
            }
        }
        // The server learns that the page has gone when it next writes; until then its answer is that of the last
        // reading.
        await().atMost(LIMIT).until(() -> threads("lock-serve") == 0);

        // After a reading that took long, the store rests for up to a minute.
        await().atMost(LIMIT).untilAsserted(() -> {
            assertThat(ask(served, "GET /api/locks", host(served))).startsWith("HTTP/1.1 200 ");
            assertThat(served.store.pages()).isEqualTo(2);
        });
    }

    @Test
    @Tag("slow")
    void givenAReadingThatHangs_whenAnotherListens_thenItIsToldThatItIsSlowAndNothingOld() throws Exception {
        ServedStore served = served(PlentyStore.of(1));
        try (Socket first = listen(served)) {
            BufferedReader events = reader(first);
            readUntil(events, "event: all");
            served.store.answerAfter(LIMIT);
            readUntil(events, "event: slow");

            try (Socket later = listen(served)) {
                BufferedReader laterEvents = reader(later);
                readUntil(laterEvents, "event: hello");
                assertThat(readUntil(laterEvents, "event: ")).isEqualTo("event: slow");
            }
        }
    }

    @Test
    void givenReleased_thenItIsToldAsGone() throws Exception {
        ServedStore served = served(PlentyStore.of(500));
        try (Socket page = listen(served)) {
            BufferedReader events = reader(page);
            readUntil(events, "event: all");
            freeUntilToldAsGone(served, events);
        }
    }

    /** A page that is late is told all that is held instead, without what was released: then another one is. */
    private static void freeUntilToldAsGone(ServedStore served, BufferedReader page) throws IOException {
        for (int i = 0; i < 10; i++) {
            String resource = "job-00000" + i;
            served.store.free(resource);
            long began = System.nanoTime();
            String told;
            do {
                told = readUntil(page, "data: ");
                requireWithinLimit(began, resource);
            } while (!told.contains("\"gone\":[\"")
                    && (!told.contains("\"event\":\"all\"") || told.contains(resource)));
            if (told.contains("\"gone\":[\"")) {
                assertThat(told).endsWith("\"gone\":[\"" + resource + "\"]}");
                return;
            }
        }
        throw new AssertionError("the page is late each time");
    }

    private static ServerSettings settings(String bind, String prefix, Duration interval) throws IOException {
        return new ServerSettings(
                new InetSocketAddress(InetAddress.getByName(bind), 0),
                List.of(),
                Optional.empty(),
                true,
                interval,
                prefix,
                "plenty");
    }

    private ServedStore served(PlentyStore store) {
        return track(ServedStore.of(store));
    }

    /** Closes who does not read for a second. */
    private ServedStore impatient(PlentyStore store) throws IOException {
        return track(new ServedStore(store, settings("127.0.0.1", "", ServedStore.INTERVAL), Duration.ofSeconds(1)));
    }

    private <T extends AutoCloseable> T track(T resource) {
        open.add(0, resource);
        return resource;
    }

    private static String host(ServedStore served) {
        return "Host: 127.0.0.1:" + served.port();
    }

    /** HTTP 1.1 would send the events in chunks: their lengths stand anywhere within a line. */
    private static Socket listen(ServedStore served) throws IOException {
        Socket page = new Socket(InetAddress.getLoopbackAddress(), served.port());
        sendAs("HTTP/1.0", page, "GET /api/events", host(served));
        return page;
    }

    private static void send(Socket socket, String request, String... headers) throws IOException {
        sendAs("HTTP/1.1", socket, request, headers);
    }

    private static void sendAs(String version, Socket socket, String request, String... headers) throws IOException {
        String text = request + " " + version + "\r\n" + String.join("\r\n", headers) + "\r\n\r\n";
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        socket.setSoTimeout((int) LIMIT.toMillis());
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    private static void readUntil(Socket socket, String part) throws IOException {
        String unused = readUntil(reader(socket), part);
    }

    private static String readUntil(BufferedReader reader, String part) throws IOException {
        long began = System.nanoTime();
        while (true) {
            String line = reader.readLine();
            requireWithinLimit(began, part);
            if (line == null) {
                throw new IOException("ended before " + part);
            }
            if (line.contains(part)) {
                return line;
            }
        }
    }

    /** The limit of a socket ends nothing that goes on: a page that is told nothing else gets a comment every two seconds. */
    private static void requireWithinLimit(long began, String what) throws IOException {
        if (System.nanoTime() - began > LIMIT.toNanos()) {
            throw new IOException("not within " + LIMIT + ": " + what);
        }
    }

    private static String readAll(Socket socket) throws IOException {
        socket.setSoTimeout((int) LIMIT.toMillis());
        long began = System.nanoTime();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] bytes = new byte[8192];
        for (int read = 0; read >= 0; read = socket.getInputStream().read(bytes)) {
            all.write(bytes, 0, read);
            requireWithinLimit(began, "the end of the answer");
        }
        return all.toString(StandardCharsets.UTF_8);
    }

    private static String ask(ServedStore served, String request, String... headers) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), served.port())) {
            List<String> all = new ArrayList<>(List.of(headers));
            all.add("Connection: close");
            send(socket, request, all.toArray(String[]::new));
            return readAll(socket);
        }
    }

    private static String post(ServedStore served, String path, String form) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), served.port())) {
            send(
                    socket,
                    "POST " + path,
                    host(served),
                    "X-Latchkey: page",
                    "Connection: close",
                    "Content-Length: " + form.length());
            socket.getOutputStream().write(form.getBytes(StandardCharsets.UTF_8));
            return readAll(socket);
        }
    }
}
