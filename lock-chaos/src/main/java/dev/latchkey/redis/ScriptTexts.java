package dev.latchkey.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * The scripts of the Redis store as texts, for observers that run them, and for defects that are planted into them. It is in the
 * package of the store, since they are nobody else's business.
 */
public final class ScriptTexts {

    private ScriptTexts() {}

    /**
     * Returns the script that acquires, promotes and demotes.
     *
     * @return as the server gets it
     */
    public static String acquire() {
        return text(Script.ACQUIRE);
    }

    /**
     * Returns the script that releases.
     *
     * @return as the server gets it
     */
    public static String release() {
        return text(Script.RELEASE);
    }

    /**
     * Returns the script that withdraws a request.
     *
     * @return as the server gets it
     */
    public static String cancel() {
        return text(Script.CANCEL);
    }

    private static String text(Script script) {
        return new String(script.source(), StandardCharsets.UTF_8);
    }

    /**
     * Returns one of the files that scripts are made of.
     *
     * @param name of the file, in the package of the store
     * @return its text
     */
    public static String file(String name) {
        try (InputStream source = Script.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(source, name).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
