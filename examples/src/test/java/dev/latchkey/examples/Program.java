package dev.latchkey.examples;

import dev.latchkey.testkit.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** An example in a process of its own, as somebody would start it in a terminal. Its output is read line by line. */
final class Program implements AutoCloseable {

    private final Process process;
    private final BufferedReader said;
    private final PrintStream input;

    private Program(Process process) {
        this.process = process;
        this.said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.input = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    static Program start(Class<?> example, String... arguments) throws IOException {
        return start(ChildJvm.of("example"), example, arguments);
    }

    static Program start(ChildJvm jvm, Class<?> example, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(example.getName()));
        command.addAll(List.of(arguments));
        return new Program(jvm.start(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT)));
    }

    /** In another JVM than that of the tests. */
    static Program start(Path java, Class<?> example, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                java.toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                example.getName()));
        command.addAll(List.of(arguments));
        return new Program(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** The next line it prints; {@code null} as a text when it ends without. */
    String line() throws IOException {
        return String.valueOf(said.readLine());
    }

    void tell(String line) {
        input.println(line);
    }

    String answers(String line) throws IOException {
        tell(line);
        return line();
    }

    /** Waits for its end, and returns its exit code. */
    int end() throws InterruptedException {
        input.close();
        return process.waitFor();
    }

    /** SIGTERM. {@link Process#destroy} would close what its last lines are read from. */
    void terminate() throws IOException, InterruptedException {
        signal("TERM");
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        int unused = process.destroyForcibly().waitFor();
    }

    /** SIGSTOP. */
    void freeze() throws IOException, InterruptedException {
        signal("STOP");
    }

    /** SIGCONT. */
    void thaw() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start()
                .waitFor();
        if (exit != 0) {
            throw new AssertionError("kill -" + name + " ended with " + exit);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
