package dev.latchkey.benchmarks;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The directory of what was measured: for each store its raw figures, and a page and a chart made of them; and an index. */
final class Results {

    private static final String RAW = ".json";

    private final ObjectMapper json = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    private final Path directory;

    Results(Path directory) {
        this.directory = directory;
    }

    /** Writes the files of a store and the index; leaves those of other stores alone. */
    void add(Figures figures) {
        try {
            Files.createDirectories(directory);
            Files.writeString(file(figures.store(), RAW), json.writeValueAsString(figures) + "\n");
            Files.writeString(file(figures.store(), ".md"), Page.of(figures));
            Files.writeString(file(figures.store(), ".svg"), Chart.of(figures));
            Files.writeString(directory.resolve("README.md"), Index.of(all()));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write to " + directory, e);
        }
    }

    /** What is there, of this run and of others. */
    private List<Figures> all() throws IOException {
        List<Figures> all = new ArrayList<>();
        for (String store : Contests.stores()) {
            if (Files.exists(file(store, RAW))) {
                all.add(read(file(store, RAW)));
            }
        }
        return all;
    }

    private Figures read(Path file) throws IOException {
        try {
            return json.readValue(Files.readString(file), Figures.class);
        } catch (JsonProcessingException e) {
            throw new IOException(file + " is not of this version: measure that store again, or delete the file", e);
        }
    }

    private Path file(String store, String ending) {
        return directory.resolve(store + ending);
    }
}
