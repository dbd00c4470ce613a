package dev.latchkey.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One fenced block of a document.
 *
 * @param document where it stands
 * @param line the line of its first fence
 * @param language what stands behind that
 * @param text what it shows
 */
record Snippet(Path document, int line, String language, String text) {

    private static final Pattern BLOCK = Pattern.compile("^```(\\w+)\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

    static List<Snippet> of(Path document) throws IOException {
        String markdown = Files.readString(document);
        List<Snippet> snippets = new ArrayList<>();
        Matcher block = BLOCK.matcher(markdown);
        while (block.find()) {
            int line = 1 + (int) markdown.substring(0, block.start()).lines().count();
            snippets.add(new Snippet(document, line, block.group(1), block.group(2)));
        }
        return snippets;
    }

    @Override
    public String toString() {
        return document.getFileName() + ":" + line;
    }
}
