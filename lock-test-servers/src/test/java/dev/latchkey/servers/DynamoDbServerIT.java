package dev.latchkey.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class DynamoDbServerIT {

    /** dynalite itself ends then. */
    @Test
    void givenConnectionsBreakInTheMiddleOfRequests_whenAskedAgain_thenItAnswers() throws Exception {
        try (DynamoDbServer server = DynamoDbServer.start()) {
            for (int i = 0; i < 20; i++) {
                breakInTheMiddle(server);
            }

            assertThat(status(server)).isEqualTo(HttpURLConnection.HTTP_OK);
        }
    }

    /** By a reset, as of a client that was killed. */
    private static void breakInTheMiddle(DynamoDbServer server) throws IOException {
        try (Socket socket =
                new Socket(server.address().host(), server.address().port())) {
            socket.setSoLinger(true, 0);
            socket.getOutputStream()
                    .write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
                            .getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            // The server has begun to read it once another request was answered.
            assertThat(status(server)).isEqualTo(HttpURLConnection.HTTP_OK);
        }
    }

    private static int status(DynamoDbServer server) throws IOException {
        HttpURLConnection connection = (HttpURLConnection)
                URI.create("http://" + server.address() + "/").toURL().openConnection();
        try {
            return connection.getResponseCode();
        } finally {
            connection.disconnect();
        }
    }
}
