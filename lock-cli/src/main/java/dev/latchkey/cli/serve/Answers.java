package dev.latchkey.cli.serve;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import dev.latchkey.console.Json;
import dev.latchkey.console.PageFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes answers with the headers that each of them has. */
final class Answers {

    static final String JSON = "application/json; charset=utf-8";

    private Answers() {}

    static void begin(HttpExchange exchange, String type, int status, long length) throws IOException {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Content-Type", type);
        PageFile.headers().forEach(headers::set);
        exchange.sendResponseHeaders(status, length);
    }

    static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        try (exchange) {
            boolean hasBody = !exchange.getRequestMethod().equals("HEAD") && body.length > 0;
            begin(exchange, type, status, hasBody ? body.length : -1);
            if (hasBody) {
                exchange.getResponseBody().write(body);
            }
        }
    }

    static void send(HttpExchange exchange, int status, Json json) throws IOException {
        send(exchange, status, JSON, json.toString().getBytes(StandardCharsets.UTF_8));
    }

    static void refuse(HttpExchange exchange, int status, String why) throws IOException {
        send(exchange, status, new Json().put("error", why));
    }
}
