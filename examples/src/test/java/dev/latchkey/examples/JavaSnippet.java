package dev.latchkey.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A Java block as a source file: as it stands where it has a class, else as the body of a main method. */
final class JavaSnippet {

    private static final Pattern CLASS = Pattern.compile("^(?:public |final )*class (\\w+)", Pattern.MULTILINE);

    private static final List<String> IMPORTS = List.of(
            "dev.latchkey.*",
            "dev.latchkey.flock.*",
            "dev.latchkey.leader.*",
            "dev.latchkey.micrometer.*",
            "dev.latchkey.redis.*",
            "dev.latchkey.reentrant.*",
            "dev.latchkey.semaphore.*",
            "dev.latchkey.spi.*",
            "dev.latchkey.store.*",
            "dev.latchkey.testkit.*",
            "dev.latchkey.tree.*",
            "io.micrometer.core.instrument.*",
            "io.micrometer.core.instrument.simple.*",
            "java.nio.file.*",
            "java.time.*",
            "java.util.*",
            "java.util.concurrent.CompletableFuture");

    private JavaSnippet() {}

    /** Writes the source and returns the name of its class. */
    static String write(Snippet snippet, Path directory) throws IOException {
        Matcher declared = CLASS.matcher(snippet.text());
        boolean whole = declared.find();
        String name = whole ? declared.group(1) : "Snippet";
        StringBuilder source = new StringBuilder();
        if (!snippet.text().contains("import ")) {
            IMPORTS.forEach(
                    imported -> source.append("import ").append(imported).append(";\n"));
        }
        if (whole) {
            source.append(snippet.text());
        } else {
            source.append("class Snippet {\npublic static void main(String[] args) throws Exception {\n")
                    .append(snippet.text())
                    .append("}\n}\n");
        }
        Files.writeString(directory.resolve(name + ".java"), source);
        return name;
    }

    static boolean hasMain(Snippet snippet) {
        return !CLASS.matcher(snippet.text()).find() || snippet.text().contains("static void main(");
    }
}
