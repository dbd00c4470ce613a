package dev.latchkey.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.List;

/**
 * What a database program writes into the directory of a new server: made once on a machine, for each version of the program, and
 * copied for each server. Making it takes longer than most tests do.
 */
final class DataTemplate {

    private final Path home;

    private DataTemplate(Path home) {
        this.home = home;
    }

    /**
     * Looks for that of a program.
     *
     * @param program what makes it
     * @param options of the program, without the directory
     */
    static DataTemplate of(Path program, List<String> options) {
        try {
            String state = program + " " + Files.size(program) + " " + Files.getLastModifiedTime(program) + options;
            String name = program.getFileName() + "-" + HexFormat.of().toHexDigits(state.hashCode());
            return new DataTemplate(Path.of(System.getProperty("user.home"), ".cache", "latchkey")
                    .resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot look at " + program, e);
        }
    }

    /**
     * Fills the directory of a server.
     *
     * @param directory which is there, and empty
     * @param make fills it, where there is no template yet
     */
    void fill(Path directory, Runnable make) {
        if (Files.isDirectory(home)) {
            copy(home, directory);
            return;
        }
        make.run();
        try {
            Files.createDirectories(home.getParent());
            Path fresh = Files.createTempDirectory(home.getParent(), "fresh-");
            copy(directory, fresh);
            if (!isMoved(fresh)) {
                run(List.of("rm", "-r", fresh.toString()));
            }
        } catch (IOException e) {
            // The next one makes its own as well, which is slower and nothing else.
            System.err.println("could not keep what a new server begins with as " + home + ": " + e);
        }
    }

    /** Not if another JVM was faster. */
    private boolean isMoved(Path fresh) throws IOException {
        try {
            Files.move(fresh, home, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (FileSystemException e) {
            if (Files.isDirectory(home)) {
                return false;
            }
            throw e;
        }
    }

    /** With owners and rights, which a server looks at. */
    private static void copy(Path from, Path to) {
        run(List.of("cp", "-Rp", from + "/.", to.toString()));
    }

    private static void run(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new AssertionError(command + " failed: " + printed);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("could not run " + command, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while a database was copied", e);
        }
    }
}
