package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two editors of one tree in two processes. */
class PlantEditorIT {

    @TempDir
    private Path directory = Path.of("");

    private final List<Program> editors = new ArrayList<>();

    @AfterEach
    void stop() throws InterruptedException {
        for (Program editor : editors) {
            editor.kill();
        }
    }

    @Test
    void givenTwoEditors_whenTheyPullLockChangeAndPush_thenNeitherLosesAChange() throws IOException {
        Program ann = start("ann");
        Program bob = start("bob");
        assertThat(ann.answers("pull")).isEqualTo("at 0");
        assertThat(ann.answers("lock pump")).isEqualTo("locked: {hall=SHARED, plant=SHARED, pump=EXCLUSIVE}");
        assertThat(bob.answers("lock valve")).isEqualTo("locked: {hall=SHARED, plant=SHARED, valve=EXCLUSIVE}");

        assertThat(bob.answers("lock pump")).as("a conflict").isEqualTo("conflict: [pump]");
        assertThat(bob.answers("change pump red")).startsWith("refused: ");

        assertThat(ann.answers("change pump blue")).isEqualTo("changed");
        assertThat(ann.answers("push")).isEqualTo("pushed, at 1");
        assertThat(bob.answers("lock pump")).isEqualTo("a pull is required: [pump] changed with 1");
        assertThat(bob.answers("pull")).isEqualTo("at 1");
        assertThat(bob.answers("lock pump")).startsWith("locked: ").contains("pump=EXCLUSIVE");
        assertThat(bob.answers("change pump green")).isEqualTo("changed");
        assertThat(bob.answers("change valve shut")).isEqualTo("changed");
        assertThat(bob.answers("push")).isEqualTo("pushed, at 2");

        assertThat(ann.answers("pull")).isEqualTo("at 2");
        assertThat(ann.answers("show")).isEqualTo("{pump=bob:green, valve=bob:shut}");
    }

    @Test
    void givenAnotherEdits_whenTheSchemaIsToChange_thenOnlyOnceNobodyHoldsAnything() throws IOException {
        Program ann = start("ann");
        Program bob = start("bob");
        assertThat(bob.answers("lock yard")).startsWith("locked: ");
        assertThat(ann.answers("lock plant")).isEqualTo("conflict: [plant]");
        assertThat(bob.answers("change yard paved")).isEqualTo("changed");
        assertThat(bob.answers("push")).isEqualTo("pushed, at 1");

        assertThat(ann.answers("lock plant")).isEqualTo("a pull is required: [plant] changed with 1");
        assertThat(ann.answers("pull")).isEqualTo("at 1");
        assertThat(ann.answers("lock plant")).isEqualTo("locked: {plant=EXCLUSIVE}");
        assertThat(bob.answers("lock yard")).isEqualTo("conflict: [plant]");
        assertThat(ann.answers("change plant metric")).isEqualTo("changed");
        assertThat(ann.answers("push")).isEqualTo("pushed, at 2");

        assertThat(bob.answers("lock yard")).isEqualTo("a pull is required: [plant] changed with 2");
        assertThat(bob.answers("pull")).isEqualTo("at 2");
        assertThat(bob.answers("lock yard")).startsWith("locked: ");
        assertThat(bob.answers("abandon")).isEqualTo("abandoned");
        assertThat(ann.answers("lock yard")).startsWith("locked: ");
    }

    private Program start(String name) throws IOException {
        Program editor = Program.start(PlantEditor.class, directory.toString(), name);
        editors.add(editor);
        return editor;
    }
}
