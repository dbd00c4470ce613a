package dev.latchkey.cli;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Gives each test commands of its own, whose processes end with it, and a directory for their files. */
abstract class CliFixture {

    @TempDir
    Path directory = Path.of("");

    Cli cli = new Cli(directory);

    @BeforeEach
    void openCli() {
        cli = new Cli(directory);
    }

    @AfterEach
    void closeCli() {
        cli.close();
    }
}
