package dev.latchkey.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** The links of a document to others of the repository, and to headings. */
final class Links {

    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern CODE = Pattern.compile("`[^`]*`");

    private Links() {}

    /** Those that lead nowhere. */
    static List<String> broken(Path document) throws IOException {
        List<String> broken = new ArrayList<>();
        for (String line : Snippet.prose(document)) {
            // What is in code shows a link, and is none; a link whose text is code stays one.
            String visible = CODE.matcher(line).replaceAll("");
            for (String link :
                    LINK.matcher(visible).results().map(found -> found.group(1)).toList()) {
                if (!link.matches("https?://.*") && !leadsSomewhere(document, link)) {
                    broken.add(document.getFileName() + ": " + link);
                }
            }
        }
        return broken;
    }

    private static boolean leadsSomewhere(Path document, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty()
                ? document
                : document.resolveSibling(parts[0]).normalize();
        return Files.exists(target) && (parts.length == 1 || anchors(target).contains(parts[1]));
    }

    /** The anchors GitHub makes of the headings. */
    private static Set<String> anchors(Path document) throws IOException {
        Set<String> anchors = new HashSet<>();
        for (String line : Snippet.prose(document)) {
            if (line.matches("#{1,6} .*")) {
                String words = line.replaceFirst("#+ ", "").strip().toLowerCase(Locale.ROOT);
                anchors.add(words.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'));
            }
        }
        return anchors;
    }
}
