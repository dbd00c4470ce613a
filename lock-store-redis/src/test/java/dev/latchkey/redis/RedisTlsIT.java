package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SslOptions;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that speaks TLS, with a certificate that nobody but this test has heard of. */
class RedisTlsIT {

    private static final String PASSWORD = "throw-away";

    @TempDir
    static Path directory;

    private static RedisServer server;
    private static String address;

    @BeforeAll
    static void start() throws Exception {
        makeCertificate();
        ServerAddress tls = ServerAddress.unused();
        address = tls.toString();
        server = RedisServer.start(
                "--tls-port",
                Integer.toString(tls.port()),
                "--tls-auth-clients",
                "no",
                "--tls-cert-file",
                certificate().toString(),
                "--tls-key-file",
                directory.resolve("key.pem").toString(),
                "--tls-ca-cert-file",
                certificate().toString());
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Path certificate() {
        return directory.resolve("certificate.pem");
    }

    private static void makeCertificate() throws Exception {
        Path store = directory.resolve("store.p12");
        keytool(
                "-genkeypair",
                "-keyalg",
                "RSA",
                "-dname",
                "CN=latchkey test",
                "-ext",
                "san=ip:127.0.0.1",
                "-alias",
                "server");
        keytool(
                "-exportcert",
                "-rfc",
                "-alias",
                "server",
                "-file",
                certificate().toString());
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Key key = keys.getKey("server", PASSWORD.toCharArray());
        Files.writeString(directory.resolve("key.pem"), pem(key.getEncoded()));
    }

    private static String pem(byte[] key) {
        String text = Base64.getMimeEncoder().encodeToString(key);
        return "-----BEGIN PRIVATE KEY-----\n" + text + "\n-----END PRIVATE KEY-----\n";
    }

    private static void keytool(String... words) throws Exception {
        Path program = Path.of(System.getProperty("java.home"), "bin", "keytool");
        ProcessBuilder builder = new ProcessBuilder(program.toString());
        builder.command().addAll(List.of(words));
        builder.command()
                .addAll(List.of(
                        "-keystore",
                        directory.resolve("store.p12").toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD));
        Process process = builder.redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }

    private static void useIt(LockFactory locks) throws Exception {
        Lock first = locks.createLock("report", LONG_TTL);
        assertThat(first.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> locks.createLock("report", LONG_TTL).acquire());
        Awaitility.await().until(() -> new RedisKeys(server).listening().size() == 1);
        assertThat(first.release()).isTrue();
        assertThat(waiting.result().release()).isTrue();
    }

    @Test
    void givenADsnThatAsksForNoProof_whenLocksAreUsed_thenTheyWorkOverTls() throws Exception {
        try (LockFactory locks = LockFactory.connect(PatientDsn.redis("rediss://" + address + "?verifyPeer=NONE"))) {
            useIt(locks);
        }
    }

    @Test
    void givenAClientThatKnowsTheCertificate_whenLocksAreUsed_thenTheyWorkOverTls() throws Exception {
        RedisClient client = RedisClient.create("rediss://" + address);
        client.setOptions(ClientOptions.builder()
                .sslOptions(SslOptions.builder()
                        .jdkSslProvider()
                        .trustManager(certificate().toFile())
                        .build())
                .build());
        try (RedisStore store = RedisStore.builder(client)
                        .commandTimeout(TimeLimits.LIMIT)
                        .build();
                LockFactory locks = new LockFactory(store)) {
            useIt(locks);
        } finally {
            client.shutdown();
        }
    }

    @Test
    void givenACertificateNobodyVouchesFor_whenAcquired_thenAFailureThatSaysSo() {
        try (LockFactory locks = LockFactory.connect("rediss://" + address)) {
            Lock lock = locks.createLock("report");
            // Now and then, Lettuce says that it closed the connection, and not why.
            Awaitility.await()
                    .untilAsserted(() -> assertThatThrownBy(lock::tryAcquire)
                            .isInstanceOf(LockStorageException.class)
                            .hasMessageContaining(address)
                            .hasStackTraceContaining("certification path"));
        }
    }
}
