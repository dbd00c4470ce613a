package dev.latchkey.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One of the files that the page is made of. The page asks for all others, and for its data below {@code api/}, relative to where it is.
 *
 * @param type its content type
 * @param text what is in it
 */
public record PageFile(String type, String text) {

    /** The name of the file that a browser opens. */
    public static final String INDEX = "index.html";

    private static final Map<String, String> TYPES = Map.of(
            INDEX,
            "text/html; charset=utf-8",
            "page.css",
            "text/css; charset=utf-8",
            "page.js",
            "text/javascript; charset=utf-8",
            "icon.svg",
            "image/svg+xml");

    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
            + " connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

    /**
     * Reads all files.
     *
     * @return the files by their names
     */
    public static Map<String, PageFile> all() {
        Map<String, PageFile> files = new LinkedHashMap<>();
        TYPES.forEach((name, type) -> files.put(name, new PageFile(type, read(name))));
        return files;
    }

    private static String read(String name) {
        try (InputStream in = PageFile.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException(name + " is not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns the headers of every answer, also of the data: nothing is stored, no script runs that is not a file of the page, and no other page can
     * show this one in a frame.
     *
     * @return the values by the names of the headers
     */
    public static Map<String, String> headers() {
        return Map.of(
                "Cache-Control", "no-store",
                "Content-Security-Policy", POLICY,
                "X-Content-Type-Options", "nosniff",
                "Referrer-Policy", "no-referrer",
                "Cross-Origin-Resource-Policy", "same-origin",
                "Cross-Origin-Opener-Policy", "same-origin");
    }

    /**
     * Returns the content.
     *
     * @return UTF-8
     */
    public byte[] bytes() {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
