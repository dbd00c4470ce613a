package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.Key;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * A certificate of 127.0.0.1 that nobody but its test has heard of, in files as servers read them.
 *
 * @param certificate in PEM
 * @param key in PEM, for its owner alone
 */
record Certificate(Path certificate, Path key) {

    private static final String PASSWORD = "throw-away";

    static Certificate makeIn(Path directory) throws Exception {
        Path store = directory.resolve("store.p12");
        Path certificate = directory.resolve("certificate.pem");
        keytool(
                store,
                List.of("-genkeypair", "-keyalg", "RSA", "-dname", "CN=latchkey test", "-ext", "san=ip:127.0.0.1"));
        keytool(store, List.of("-exportcert", "-rfc", "-file", certificate.toString()));
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Key secret = keys.getKey("server", PASSWORD.toCharArray());
        Path key = Files.createFile(
                directory.resolve("key.pem"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(
                key,
                "-----BEGIN PRIVATE KEY-----\n" + Base64.getMimeEncoder().encodeToString(secret.getEncoded())
                        + "\n-----END PRIVATE KEY-----\n");
        return new Certificate(certificate, key);
    }

    private static void keytool(Path store, List<String> words) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(words);
        command.addAll(List.of("-alias", "server", "-keystore", store.toString(), "-storetype", "PKCS12"));
        command.addAll(List.of("-storepass", PASSWORD));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }
}
