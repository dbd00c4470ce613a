package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each script as the server gets it, checked by {@code luacheck}: a misspelt name would be nil, and found out only when it is run. */
class ScriptsIT {

    /**
     * 211: the prelude defines what some scripts do not use. 431: its functions name their parameters as the locals of
     * {@code acquire_free.lua} are named.
     */
    private static final List<String> LUACHECK = List.of(
            "luacheck",
            "--no-color",
            "--codes",
            "--std=lua51",
            "--max-line-length=140",
            "--read-globals",
            "redis",
            "KEYS",
            "ARGV",
            "--ignore=211",
            "--ignore=431",
            "--");

    @TempDir
    Path directory;

    @Test
    void givenScriptsAsTheyAreSent_whenChecked_thenNothingIsFound() throws Exception {
        List<String> command = new ArrayList<>(LUACHECK);
        for (Field field : Script.class.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.get(null) instanceof Script script) {
                Path file = directory.resolve(field.getName() + ".lua");
                Files.write(file, script.source());
                command.add(file.toString());
            }
        }

        assertThat(command).hasSizeGreaterThan(LUACHECK.size() + 10);
        assertThat(printed(command)).contains("Total: 0 warnings / 0 errors");
    }

    @Test
    void givenMisspeltName_whenChecked_thenItIsFound() throws Exception {
        String source = new String(Script.FIND.source(), StandardCharsets.UTF_8);
        Path file = Files.writeString(
                directory.resolve("misspelt.lua"), source.replaceFirst("function read\\(", "function raed("));
        List<String> command = new ArrayList<>(LUACHECK);
        command.add(file.toString());

        assertThat(printed(command)).contains("accessing undefined variable 'read'");
    }

    private static String printed(List<String> command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new AssertionError("no luacheck on this machine: \"apt-get install lua-check\"", e);
        }
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        return printed;
    }
}
