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

/** Answers each request with an error of DynamoDB, or breaks its connection, and counts them. */
final class ErrorServer implements AutoCloseable {

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger requests = new AtomicInteger();

    ErrorServer(int status, String error) throws IOException {
        this(
                (exchange, answer) -> {
                    exchange.getResponseHeaders().add("Content-Type", "application/x-amz-json-1.0");
                    exchange.sendResponseHeaders(status, answer.length);
                    exchange.getResponseBody().write(answer);
                },
                ("{\"__type\":\"com.amazonaws.dynamodb.v20120810#" + error + "\",\"message\":\"no\"}")
                        .getBytes(StandardCharsets.UTF_8));
    }

    /** One that breaks each connection when it has read the request. */
    static ErrorServer withoutAnswers() throws IOException {
        return new ErrorServer((exchange, answer) -> {}, new byte[0]);
    }

    /** What is sent before the connection is closed. */
    private interface Reply {

        void send(HttpExchange exchange, byte[] answer) throws IOException;
    }

    private ErrorServer(Reply reply, byte[] answer) throws IOException {
        ServerAddress address = ServerAddress.unused();
        server = HttpServer.create(new InetSocketAddress(address.host(), address.port()), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> refuse(exchange, reply, answer));
        server.start();
    }

    private void refuse(HttpExchange exchange, Reply reply, byte[] answer) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            requests.incrementAndGet();
            reply.send(exchange, answer);
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
