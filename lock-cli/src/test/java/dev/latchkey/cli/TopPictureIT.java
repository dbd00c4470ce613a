package dev.latchkey.cli;

import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * The picture of the documents is what {@code lock top} shows, in a terminal of 80×24.
 *
 * <p>{@code -Dlatchkey.pictures=write} writes it anew.
 */
class TopPictureIT extends CliFixture {

    private static final int COLUMNS = 80;
    private static final int ROWS = 24;
    private static final Path PICTURE = Path.of("../docs/pictures/top.svg");

    @Test
    void givenTheExample_whenShown_thenItIsThePictureOfTheDocuments() throws Exception {
        try (Tmux tmux = new Tmux(directory, COLUMNS, ROWS)) {
            String java =
                    Path.of(System.getProperty("java.home"), "bin", "java").toString();
            tmux.run("exec '" + java + "' -XX:TieredStopAtLevel=1 -cp"
                    + " 'target/lock-cli.jar:target/test-classes:target/lib/*' " + Main.class.getName()
                    + " top --store example://host7:6379 --interval 100ms");
            tmux.awaitText("q quit");
            tmux.press("Down");
            if ("write".equals(System.getProperty("latchkey.pictures"))) {
                Files.writeString(PICTURE, picture(tmux));
            }

            await("as in " + PICTURE + "; to write it anew: -Dlatchkey.pictures=write")
                    .atMost(Cli.PATIENCE)
                    .until(() -> {
                        if (picture(tmux).equals(Files.readString(PICTURE))) {
                            return true;
                        }
                        // Again and again: a busy machine may take it for Escape.
                        tmux.press("Home", "Down");
                        return false;
                    });
        }
    }

    private static String picture(Tmux tmux) {
        return TerminalPicture.of(tmux.styledLines(), COLUMNS);
    }
}
