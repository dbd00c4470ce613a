package dev.latchkey.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.latchkey.cli.text.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Chromium without a window, driven by the WebDriver protocol. */
final class Browser implements AutoCloseable {

    static final String ENTER = "\ue007";
    static final String ESCAPE = "\ue00c";
    static final String END = "\ue010";
    static final String DOWN = "\ue015";

    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final Pattern STARTED = Pattern.compile("successfully on port ([0-9]+)");
    private static final Pattern VALUE = Pattern.compile("\"value\":\"((?:[^\"\\\\]|\\\\.)*)\"");

    private final HttpClient http = HttpClient.newHttpClient();
    private final Process driver;
    private final String session;

    Browser() throws IOException, InterruptedException {
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

    void open(String url) throws IOException, InterruptedException {
        String unused =
                call("POST", session + "/url", new Json().put("url", url).toString());
    }

    /** Returns the value of this expression, as text. */
    String value(String expression) throws IOException, InterruptedException {
        String script =
                new Json().put("script", "return String(" + expression + ")").toString();
        String answer = call("POST", session + "/execute/sync", script.replaceFirst("}$", ",\"args\":[]}"));
        Matcher value = VALUE.matcher(answer);
        assertThat(value.find()).as(answer).isTrue();
        return value.group(1);
    }

    void awaitTrue(String expression) {
        await(expression).atMost(LIMIT).until(() -> value(expression).equals("true"));
    }

    /** Presses one key after the other, wherever the focus is. */
    void type(String keys) throws IOException, InterruptedException {
        List<Json> actions = new ArrayList<>();
        keys.codePoints().mapToObj(Character::toString).forEach(key -> {
            actions.add(new Json().put("type", "keyDown").put("value", key));
            actions.add(new Json().put("type", "keyUp").put("value", key));
        });
        Json keyboard = new Json().put("type", "key").put("id", "keyboard").put("actions", actions);
        String unused = call(
                "POST",
                session + "/actions",
                new Json().put("actions", List.of(keyboard)).toString());
    }

    void prefer(String scheme) throws IOException, InterruptedException {
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
