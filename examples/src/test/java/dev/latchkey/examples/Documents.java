package dev.latchkey.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The Markdown files of the repository: those at its top, and all below {@code docs}. */
final class Documents {

    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private Documents() {}

    static List<Path> all() throws IOException {
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(top, docs)
                    .filter(path -> path.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    static List<Snippet> snippets() throws IOException {
        List<Snippet> snippets = new ArrayList<>();
        for (Path document : all()) {
            snippets.addAll(Snippet.of(document));
        }
        return snippets;
    }

    static List<Snippet> snippets(String language) throws IOException {
        return snippets().stream()
                .filter(snippet -> snippet.language().equals(language))
                .toList();
    }
}
