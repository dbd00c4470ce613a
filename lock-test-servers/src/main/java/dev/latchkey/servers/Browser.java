package dev.latchkey.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A Chromium without a window, driven by the WebDriver protocol. For one thread. */
public final class Browser implements AutoCloseable {

    /** The key Enter. */
    public static final String ENTER = "\ue007";
    /** The key Escape. */
    public static final String ESCAPE = "\ue00c";
    /** The key End. */
    public static final String END = "\ue010";
    /** The key the arrow down. */
    public static final String DOWN = "\ue015";

    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final Pattern STARTED = Pattern.compile("successfully on port ([0-9]+)");
    private static final Pattern VALUE = Pattern.compile("\"value\":\"((?:[^\"\\\\]|\\\\.)*)\"");

    private final HttpClient http = HttpClient.newHttpClient();
    private final Process driver;
    private final String session;

    /**
     * Starts one. The test is aborted if this machine has none.
     *
     * @throws IOException if it does not start
     * @throws InterruptedException if the thread is interrupted
     */
    public Browser() throws IOException, InterruptedException {
        assumeTrue(
                Files.isExecutable(DRIVER) && Files.isExecutable(Path.of("/usr/bin/chromium")),
                "no browser: install chromium and chromium-driver");
        driver = new ProcessBuilder(DRIVER.toString(), "--port=0")
                .redirectErrorStream(true)
                .start();
        String root = "http://127.0.0.1:" + port(driver.inputReader()) + "/session";
        String started = call(
                "POST",
                root,
                "{\"capabilities\":{\"alwaysMatch\":{\"goog:chromeOptions\":{\"args\":[\"--headless=new\",\"--no-sandbox\","
                        + "\"--disable-dev-shm-usage\",\"--window-size=1440,900\"]}}}}");
        session = root + "/" + started.replaceAll("(?s).*\"sessionId\":\"([^\"]+)\".*", "$1");
    }

    private static String port(BufferedReader out) throws IOException {
        while (true) {
            String line = out.readLine();
            if (line == null) {
                throw new IOException("chromedriver did not start");
            }
            Matcher started = STARTED.matcher(line);
            if (started.find()) {
                return started.group(1);
            }
        }
    }

    private String call(String method, String url, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .timeout(LIMIT)
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        var answer = http.send(request, BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }

    /**
     * Opens a page.
     *
     * @param url its address
     * @throws IOException if the browser fails
     * @throws InterruptedException if the thread is interrupted
     */
    public void open(String url) throws IOException, InterruptedException {
        String unused = call("POST", session + "/url", "{\"url\":" + quoted(url) + "}");
    }

    /**
     * Evaluates an expression in the page.
     *
     * @param expression of JavaScript
     * @return its value, as text
     * @throws IOException if the browser fails
     * @throws InterruptedException if the thread is interrupted
     */
    public String value(String expression) throws IOException, InterruptedException {
        String script = quoted("return String(" + expression + ")");
        String answer = call("POST", session + "/execute/sync", "{\"script\":" + script + ",\"args\":[]}");
        Matcher value = VALUE.matcher(answer);
        assertThat(value.find()).as(answer).isTrue();
        return value.group(1);
    }

    /**
     * Waits until an expression is true in the page.
     *
     * @param expression of JavaScript
     */
    public void awaitTrue(String expression) {
        await(expression).atMost(LIMIT).until(() -> value(expression).equals("true"));
    }

    /**
     * Presses one key after the other, wherever the focus is.
     *
     * @param keys characters, among them those of this class for keys without one
     * @throws IOException if the browser fails
     * @throws InterruptedException if the thread is interrupted
     */
    public void type(String keys) throws IOException, InterruptedException {
        String actions = keys.codePoints()
                .mapToObj(Character::toString)
                .map(Browser::quoted)
                .map(key -> "{\"type\":\"keyDown\",\"value\":" + key + "},{\"type\":\"keyUp\",\"value\":" + key + "}")
                .collect(Collectors.joining(","));
        String unused = call(
                "POST",
                session + "/actions",
                "{\"actions\":[{\"type\":\"key\",\"id\":\"keyboard\",\"actions\":[" + actions + "]}]}");
    }

    /** As JSON. */
    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars()
                .forEach(c -> quoted.append(
                        c < ' ' || c == '"' || c == '\\' ? String.format("\\u%04x", c) : Character.toString(c)));
        return quoted.append('"').toString();
    }

    /**
     * Prefers dark or light pages.
     *
     * @param scheme {@code dark} or {@code light}
     * @throws IOException if the browser fails
     * @throws InterruptedException if the thread is interrupted
     */
    public void prefer(String scheme) throws IOException, InterruptedException {
        String unused = call(
                "POST",
                session + "/goog/cdp/execute",
                "{\"cmd\":\"Emulation.setEmulatedMedia\",\"params\":{\"features\":[{\"name\":\"prefers-color-scheme\","
                        + "\"value\":\"" + scheme + "\"}]}}");
    }

    @Override
    public void close() throws IOException {
        try {
            String unused = call("DELETE", session, "");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            driver.destroy();
        }
    }
}
