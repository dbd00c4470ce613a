package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** A terminal that a program can look at and type into: a tmux server of its own. */
final class Tmux implements AutoCloseable {

    private final Path socket;
    private final Path directory;

    /** Starts a shell in a terminal of this size. */
    Tmux(Path directory, int width, int height) {
        this.directory = directory;
        socket = directory.resolve("tmux");
        String unused = tmux(
                "new-session",
                "-d",
                "-x",
                Integer.toString(width),
                "-y",
                Integer.toString(height),
                "env PS1='$ ' ENV= /bin/sh");
    }

    private String tmux(String... arguments) {
        List<String> command = new ArrayList<>(Cli.NO_SIGNAL_IGNORED);
        command.addAll(List.of("tmux", "-u", "-f", "/dev/null", "-S", socket.toString()));
        command.addAll(List.of(arguments));
        try {
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(Path.of("").toAbsolutePath().toFile())
                    .redirectErrorStream(true);
            builder.environment().put("T", directory.toString());
            builder.environment().remove("TMUX");
            Process process = builder.start();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(out).isZero();
            return out;
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Types a line into the shell. */
    void run(String line) {
        type(line);
        press("Enter");
    }

    void type(String text) {
        String unused = tmux("send-keys", "-l", text);
    }

    /** Presses keys by their names, such as {@code Enter}, {@code Escape} or {@code C-c}. */
    void press(String... keys) {
        for (String key : keys) {
            String unused = tmux("send-keys", key);
        }
    }

    /**
     * Presses a key until it is seen to have worked. One that sends several characters is taken for Escape if the program gets
     * the first of them long before the others, as on a busy machine.
     */
    void pressUntil(String key, String part) {
        List<String> unused = awaitLines(part, lines -> {
            press(key);
            return lines.stream().anyMatch(line -> line.contains(part));
        });
    }

    void resize(int width, int height) {
        String unused = tmux("resize-window", "-x", Integer.toString(width), "-y", Integer.toString(height));
    }

    /** Returns the lines that are seen. */
    List<String> lines() {
        return tmux("capture-pane", "-p").lines().toList();
    }

    /** Returns the lines that are seen, with the escape sequences of their styles. */
    List<String> styledLines() {
        return tmux("capture-pane", "-p", "-e").lines().toList();
    }

    List<String> awaitLines(String what, Predicate<List<String>> expected) {
        return await(what).atMost(Cli.PATIENCE).until(this::lines, expected);
    }

    void awaitText(String part) {
        List<String> unused = awaitLines(part, lines -> lines.stream().anyMatch(line -> line.contains(part)));
    }

    /** Returns whether a program has the screen for itself, and whether the cursor is hidden. */
    String screenState() {
        return tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").strip();
    }

    @Override
    public void close() {
        String unused = tmux("kill-server");
    }
}
