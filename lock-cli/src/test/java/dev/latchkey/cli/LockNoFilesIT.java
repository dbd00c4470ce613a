package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The runner cannot open a file any more, so Java can neither list processes nor tell that one is alive. */
@EnabledOnOs(OS.LINUX)
class LockNoFilesIT extends CliFixture {

    @Test
    void givenNoFileCanBeOpened_whenTerm_thenHeldUntilTheCommandAndWhatItStartedHaveEnded() throws Exception {
        var run = cli.start(
                "run",
                "--kill-after=1s",
                "x",
                "-c",
                "echo $$ >$T/command; echo $PPID >$T/runner; trap ': >$T/seen' USR1;"
                        + " sh -c 'trap \"\" TERM USR1; echo $$ >$T/started; : >$T/ready; sleep 600' &"
                        + " " + Cli.until("end"));
        cli.awaitFile("ready");
        long runner = pid("runner");
        // A signal has the runner look for all that runs.
        Cli.signal("USR1", runner);
        cli.awaitFile("seen");
        limitFiles(runner, "3");

        Cli.signal("TERM", runner);

        run.awaitErr("killing it");
        assertThat(isFree()).isFalse();
        assertThat(isAlive("command")).isTrue();
        cli.touch("end");
        await().atMost(Cli.PATIENCE).until(() -> !isAlive("command"));
        assertThat(isFree()).isFalse();
        assertThat(isAlive("started")).isTrue();

        limitFiles(runner, "1000");

        int unused = run.exitCode();
        assertThat(isAlive("started")).isFalse();
        assertThat(isFree()).isTrue();
    }

    private boolean isFree() {
        return cli.run("run", "-n", "x", "--", "true").exitCode() == 0;
    }

    private long pid(String file) {
        return Long.parseLong(cli.read(file).strip());
    }

    private boolean isAlive(String file) {
        return ProcessHandle.of(pid(file))
                .filter(process -> !new ProcessTree(process).isGone())
                .isPresent();
    }

    private static void limitFiles(long pid, String most) throws IOException, InterruptedException {
        int exitCode = new ProcessBuilder("prlimit", "--pid", Long.toString(pid), "--nofile=" + most + ":")
                .inheritIO()
                .start()
                .waitFor();
        assertThat(exitCode).isZero();
    }
}
