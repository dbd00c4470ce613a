package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The scripts, as the server gets them and file by file. {@code luacheck} finds a misspelt name, which would be nil and found only
 * when it is used, and a name that a file uses without saying that it takes it from another.
 */
class ScriptsIT {

    private static final List<String> LUACHECK = List.of(
            "luacheck",
            "--no-color",
            "--codes",
            "--std=lua51",
            "--max-line-length=140",
            "--read-globals",
            "redis",
            "KEYS",
            "ARGV");

    /** Not used, never accessed, overwritten: as far as a file alone can tell of what it gives to others. */
    private static final List<String> OF_WHAT_IS_GIVEN = List.of("211", "231", "311");

    private static final Path WHOLE = Path.of("target/scripts");

    private static Map<String, Script> scripts;

    @TempDir
    Path directory;

    @BeforeAll
    static void writeWholeScripts() throws Exception {
        scripts = new TreeMap<>();
        for (Field field : Script.class.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.get(null) instanceof Script script) {
                scripts.put(field.getName().toLowerCase(Locale.ROOT), script);
            }
        }
        Files.createDirectories(WHOLE);
        for (Map.Entry<String, Script> script : scripts.entrySet()) {
            Files.write(whole(script.getKey()), script.getValue().source());
        }
        assertThat(scripts).hasSizeGreaterThan(10);
    }

    private static Path whole(String name) {
        return WHOLE.resolve(name + ".lua");
    }

    /** 211, 231: most scripts do not use all that the files before them give. */
    @Test
    void givenWholeScripts_whenChecked_thenNothingIsFound() throws Exception {
        List<String> command = new ArrayList<>(LUACHECK);
        command.addAll(List.of("--ignore=211", "--ignore=231", "--"));
        scripts.keySet().forEach(name -> command.add(whole(name).toString()));

        assertThat(printed(command)).contains("Total: 0 warnings / 0 errors in " + scripts.size() + " files");
    }

    @Test
    void givenAFile_whenCheckedAlone_thenItUsesNothingButWhatItTakes() throws Exception {
        for (String file : files()) {
            assertThat(printed(alone(file, Script.load(file))))
                    .as(file)
                    .contains("Total: 0 warnings / 0 errors in 1 file");
        }
    }

    @Test
    void givenAFileThatDoesNotSayWhatItTakes_whenCheckedAlone_thenItIsFound() throws Exception {
        String silent = Script.load("find").replaceFirst("--@ takes clock, ", "--@ takes ");

        assertThat(printed(alone("find", silent))).contains("accessing undefined variable 'clock'");
    }

    @Test
    void givenAFile_thenAllThatItTakesIsUsedAndAllThatItGivesIsDefined() {
        for (String file : files()) {
            String text = Script.load(file);
            String code = text.replaceAll("--.*", "");
            assertThat(names(text, "takes"))
                    .as(file)
                    .allSatisfy(name -> assertThat(code).containsPattern("\\b" + name + "\\b"));
            assertThat(names(text, "gives"))
                    .as(file)
                    .allSatisfy(name ->
                            assertThat(code).containsPattern("(?m)^local (function )?([\\w, ]*\\b)?" + name + "\\b"));
        }
    }

    @Test
    void givenAScript_thenEachFileTakesOnlyWhatFilesBeforeItGive() {
        scripts.forEach((name, script) -> {
            Set<String> given = new HashSet<>();
            for (String file : script.files()) {
                assertThat(given).as("%s before %s.lua", name, file).containsAll(names(Script.load(file), "takes"));
                given.addAll(names(Script.load(file), "gives"));
            }
        });
    }

    /** A user with these rights would be refused in the middle of a script. */
    @Test
    void givenAFile_thenTheDocumentedRightsNameEachCommandOfIt() {
        List<String> rights = List.of((Rights.SCRIPTS + " " + Rights.MESSAGES).split(" "));
        Pattern call = Pattern.compile("(?:redis\\.p?call|look)\\('(\\w+)'(?:, '([A-Z]+)')?");
        for (String file : files()) {
            assertThat(call.matcher(Script.load(file)).results())
                    .as(file)
                    .allSatisfy(found -> assertThat(rights)
                            .containsAnyOf(
                                    ("+" + found.group(1)).toLowerCase(Locale.ROOT),
                                    ("+" + found.group(1) + "|" + found.group(2)).toLowerCase(Locale.ROOT)));
        }
    }

    @Test
    void givenAWholeScript_whenRunByHand_thenItAcquires() throws Exception {
        assertThat(byHand("one").trim()).matches("[0-9]{16}");
        assertThat(byHand("another")).startsWith("-1\n");
    }

    private static String byHand(String token) throws Exception {
        List<String> redis = List.of(
                "redis-cli",
                "-u",
                RedisServer.sharedDsn(),
                "--eval",
                whole("acquire").toString());
        List<String> arguments = List.of("lock:{by hand}", ",", token, "30000", "630000", "0", "x");
        return printed(Stream.concat(redis.stream(), arguments.stream()).toList());
    }

    private static Set<String> files() {
        return scripts.values().stream()
                .flatMap(script -> script.files().stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> names(String text, String direction) {
        return Pattern.compile("(?m)^--@ " + direction + " (.*)$")
                .matcher(text)
                .results()
                .flatMap(line -> Arrays.stream(line.group(1).split(", ")))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Checks one file: what it takes is defined, and what it gives is used. */
    private List<String> alone(String file, String text) throws IOException {
        Path written = Files.writeString(directory.resolve(file + ".lua"), text);
        Stream<String> ignored = names(text, "gives").stream()
                .flatMap(name -> OF_WHAT_IS_GIVEN.stream().map(code -> "--ignore=" + code + "/" + name));
        return Stream.of(LUACHECK.stream(), names(text, "takes").stream(), ignored, Stream.of("--", written.toString()))
                .flatMap(words -> words)
                .toList();
    }

    private static String printed(List<String> command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new AssertionError(
                    "this machine lacks " + command.get(0) + ": \"apt-get install lua-check redis-tools\"", e);
        }
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        return printed;
    }
}
