package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two editors of one tree in two processes. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TreeEditorIT {

    @TempDir
    private Path directory = Path.of("");

    private final List<Editor> editors = new ArrayList<>();

    @AfterEach
    void stop() throws InterruptedException {
        for (Editor editor : editors) {
            editor.process.destroyForcibly().waitFor();
        }
    }

    @Test
    void givenTwoEditors_whenTheyPullLockChangeAndPush_thenNeitherLosesAChange() throws IOException {
        Editor ann = start("ann");
        Editor bob = start("bob");
        assertThat(ann.says("pull")).isEqualTo("at 0");
        assertThat(ann.says("lock pump")).isEqualTo("locked: {hall=SHARED, plant=SHARED, pump=EXCLUSIVE}");
        assertThat(bob.says("lock valve")).isEqualTo("locked: {hall=SHARED, plant=SHARED, valve=EXCLUSIVE}");

        assertThat(bob.says("lock pump")).as("a conflict").isEqualTo("conflict: [pump]");
        assertThat(bob.says("change pump red")).startsWith("refused: ");

        assertThat(ann.says("change pump blue")).isEqualTo("changed");
        assertThat(ann.says("push")).isEqualTo("pushed, at 1");
        assertThat(bob.says("lock pump")).isEqualTo("a pull is required: [pump] changed with 1");
        assertThat(bob.says("pull")).isEqualTo("at 1");
        assertThat(bob.says("lock pump")).startsWith("locked: ").contains("pump=EXCLUSIVE");
        assertThat(bob.says("change pump green")).isEqualTo("changed");
        assertThat(bob.says("change valve shut")).isEqualTo("changed");
        assertThat(bob.says("push")).isEqualTo("pushed, at 2");

        assertThat(ann.says("pull")).isEqualTo("at 2");
        assertThat(ann.says("show")).isEqualTo("{pump=bob:green, valve=bob:shut}");
    }

    @Test
    void givenAnotherEdits_whenTheSchemaIsToChange_thenOnlyOnceNobodyHoldsAnything() throws IOException {
        Editor ann = start("ann");
        Editor bob = start("bob");
        assertThat(bob.says("lock yard")).startsWith("locked: ");
        assertThat(ann.says("lock plant")).isEqualTo("conflict: [plant]");
        assertThat(bob.says("change yard paved")).isEqualTo("changed");
        assertThat(bob.says("push")).isEqualTo("pushed, at 1");

        assertThat(ann.says("lock plant")).isEqualTo("a pull is required: [plant] changed with 1");
        assertThat(ann.says("pull")).isEqualTo("at 1");
        assertThat(ann.says("lock plant")).isEqualTo("locked: {plant=EXCLUSIVE}");
        assertThat(bob.says("lock yard")).isEqualTo("conflict: [plant]");
        assertThat(ann.says("change plant metric")).isEqualTo("changed");
        assertThat(ann.says("push")).isEqualTo("pushed, at 2");

        assertThat(bob.says("lock yard")).isEqualTo("a pull is required: [plant] changed with 2");
        assertThat(bob.says("pull")).isEqualTo("at 2");
        assertThat(bob.says("lock yard")).startsWith("locked: ");
        assertThat(bob.says("abandon")).isEqualTo("abandoned");
        assertThat(ann.says("lock yard")).startsWith("locked: ");
    }

    private Editor start(String name) throws IOException {
        Editor editor = Editor.start(directory, name);
        editors.add(editor);
        return editor;
    }

    /** One process. */
    private record Editor(Process process, BufferedReader answers, BufferedWriter commands) {

        static Editor start(Path directory, String name) throws IOException {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            TreeEditor.class.getName(),
                            directory.toString(),
                            name)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new Editor(
                    process,
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)),
                    new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8)));
        }

        String says(String command) throws IOException {
            commands.write(command);
            commands.newLine();
            commands.flush();
            return String.valueOf(answers.readLine());
        }
    }
}
