package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * A server with the API of DynamoDB of a test's own, to be killed, frozen and started again; and the one that all tests share.
 *
 * <p>It is dynalite, and accepts any credentials. The shared one keeps its data in memory; the others keep theirs in files,
 * also if they are killed. The shared one may also be given by the environment.
 */
public final class DynamoDbServer extends TestServer {

    /** The environment variable with the DSN of a server for all tests that need none of their own. */
    public static final String ENVIRONMENT = "LATCHKEY_TEST_DYNAMODB";

    private DynamoDbServer(LocalServer server) {
        super(server);
    }

    /**
     * Returns the DSN of a server that all tests of this JVM share: each uses resources, or a table, of its own.
     *
     * @return the value of {@value #ENVIRONMENT}, or of a server that is started for the first who asks
     * @throws AssertionError if there is none, with the line that would help
     */
    public static String sharedDsn() {
        return Shared.DSN;
    }

    /**
     * Starts a server.
     *
     * @return the server, ready, without tables
     */
    public static DynamoDbServer start() {
        return start(List.of("{directory}"));
    }

    private static DynamoDbServer start(List<String> data) {
        List<String> arguments = new ArrayList<>(List.of("{port}"));
        arguments.addAll(data);
        return new DynamoDbServer(LocalServer.start(
                new LocalServer.Plan("dynamodb", new DynaliteLauncher(), arguments, DynamoDbServer::answers)));
    }

    /** As load balancers ask a server whether it is up. */
    private static boolean answers(ServerAddress address) throws IOException {
        HttpURLConnection connection = (HttpURLConnection)
                URI.create("http://" + address + "/").toURL().openConnection();
        connection.setConnectTimeout(LocalServer.ANSWER_MILLIS);
        connection.setReadTimeout(LocalServer.ANSWER_MILLIS);
        try {
            return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
        } finally {
            connection.disconnect();
        }
    }

    @Override
    public String dsn() {
        return dsn(address().toString());
    }

    /**
     * Returns the DSN of a server at an address, such as that of a proxy.
     *
     * @param address a host and a port
     * @return a DSN whose table is created when it is needed
     */
    public static String dsn(String address) {
        return PatientDsn.dynamoDb("dynamodb://eu-central-1/locks?create-table=true&endpoint=http://" + address);
    }

    private static final class Shared {

        static final String DSN = shared(ENVIRONMENT, () -> start(List.of()).dsn());
    }
}
