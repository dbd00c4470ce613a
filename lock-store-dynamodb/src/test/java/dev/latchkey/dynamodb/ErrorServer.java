package dev.latchkey.dynamodb;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers each request with an error of DynamoDB, and counts them. */
final class ErrorServer implements AutoCloseable {

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger requests = new AtomicInteger();

    ErrorServer(int status, String error) throws IOException {
        byte[] answer = ("{\"__type\":\"com.amazonaws.dynamodb.v20120810#" + error + "\",\"message\":\"no\"}")
                .getBytes(StandardCharsets.UTF_8);
        ServerAddress address = ServerAddress.unused();
        server = HttpServer.create(new InetSocketAddress(address.host(), address.port()), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> refuse(exchange, status, answer));
        server.start();
    }

    private void refuse(HttpExchange exchange, int status, byte[] answer) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            requests.incrementAndGet();
            exchange.getResponseHeaders().add("Content-Type", "application/x-amz-json-1.0");
            exchange.sendResponseHeaders(status, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    ServerAddress address() {
        return new ServerAddress("127.0.0.1", server.getAddress().getPort());
    }

    int requests() {
        return requests.get();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
