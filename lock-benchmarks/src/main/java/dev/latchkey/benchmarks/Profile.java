package dev.latchkey.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the time of each contender's JVM goes, as a flame graph of its processor time. Nothing is measured meanwhile: contenders
 * run one after the other, each alone.
 *
 * @see <a href="https://github.com/async-profiler/async-profiler">async-profiler</a>
 */
final class Profile {

    private final Contest contest;
    private final Effort effort;
    private final Path directory;

    Profile(Contest contest, Effort effort, Path directory) {
        this.contest = contest;
        this.effort = effort;
        this.directory = directory.toAbsolutePath();
    }

    /** Returns the files written, one for each contender of each table. */
    List<Path> of(List<Table> tables) {
        List<Path> written = new ArrayList<>();
        for (Table table : tables) {
            try (Servers servers = contest.start(table)) {
                for (Contender contender : table.contenders()) {
                    Path file = file(table, contender);
                    profile(table, contender, servers, file);
                    if (Files.exists(file)) {
                        written.add(file);
                    }
                }
            }
        }
        return written;
    }

    private void profile(Table table, Contender contender, Servers servers, Path file) {
        try (Entry entry = new Entry(contender, effort)) {
            Files.createDirectories(directory);
            Files.deleteIfExists(file);
            Placement.ALL_PROCESSORS.enter();
            entry.start(contest, table, servers.address());
            table.placement().enter();
            entry.profile(file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write to " + directory, e);
        }
    }

    private Path file(Table table, Contender contender) {
        String name = String.join("-", contest.store(), table.name(), contender.title());
        return directory.resolve(name.replaceAll("[^A-Za-z0-9]+", "-") + ".html");
    }
}
