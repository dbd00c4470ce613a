package dev.latchkey.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One fenced block of a document.
 *
 * @param document where it stands
 * @param line the line of its first fence
 * @param language the first word behind that; empty if there is none
 * @param source the file of the repository of which it is a part, from {@code file=…} behind the language
 * @param text what it shows
 */
record Snippet(Path document, int line, String language, Optional<String> source, String text) {

    private static final String FENCE = "```";
    private static final String SOURCE = "file=";

    static List<Snippet> of(Path document) throws IOException {
        List<String> lines = Files.readAllLines(document);
        List<Snippet> snippets = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            if (isFence(lines.get(i))) {
                int end = i + 1;
                while (!isFence(lines.get(end))) {
                    end++;
                }
                String text = String.join("\n", lines.subList(i + 1, end)) + "\n";
                snippets.add(of(document, i + 1, lines.get(i).strip().substring(FENCE.length()), text));
                i = end;
            }
        }
        return snippets;
    }

    /** The lines of a document that are in no block. */
    static List<String> prose(Path document) throws IOException {
        List<String> prose = new ArrayList<>();
        boolean inside = false;
        for (String line : Files.readAllLines(document)) {
            if (isFence(line)) {
                inside = !inside;
            } else if (!inside) {
                prose.add(line);
            }
        }
        return prose;
    }

    private static boolean isFence(String line) {
        return line.strip().startsWith(FENCE);
    }

    private static Snippet of(Path document, int line, String info, String text) {
        String[] words = info.split(" ", 2);
        Optional<String> source = Optional.of(words[words.length - 1])
                .filter(word -> word.startsWith(SOURCE))
                .map(word -> word.substring(SOURCE.length()));
        return new Snippet(document, line, words[0], source, text);
    }

    @Override
    public String toString() {
        return document.getFileName() + ":" + line;
    }
}
