package dev.latchkey.flock;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Response;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** What only shows between users and between containers: needs root on Linux, to become somebody else. */
@EnabledIf(value = "canBecomeOthers", disabledReason = "no other users here: be root on Linux")
class FlockUsersIT {

    /** No user database knows them. */
    private static final int STRANGER = 54_321;

    private static final int GROUP = 54_322;

    /** What the programs need, where everybody may read it: repositories and builds are often their owner's alone. */
    @TempDir
    static Path programs;

    @TempDir
    Path directory;

    private Path locks;
    private final List<Process> started = new ArrayList<>();

    @BeforeAll
    static void copyPrograms() throws Exception {
        Permissions.set(programs, "rwxr-xr-x");
        int number = 0;
        for (Class<?> needed : List.of(LockFactory.class, FlockStore.class, Visitor.class, LoggerFactory.class)) {
            Path from = Path.of(
                    needed.getProtectionDomain().getCodeSource().getLocation().toURI());
            Path to = programs.resolve(Integer.toString(number++));
            assertThat(new ProcessBuilder("sh", "-c", "umask 022; cp -R \"$0\" \"$1\"", from.toString(), to.toString())
                            .start()
                            .waitFor())
                    .isZero();
        }
    }

    private static String classPath() throws IOException {
        try (Stream<Path> copied = Files.list(programs)) {
            return copied.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        }
    }

    @BeforeEach
    void open() throws IOException {
        Permissions.set(directory, "rwxr-xr-x");
        locks = Files.createDirectory(directory.resolve("locks"));
    }

    @AfterEach
    void close() {
        started.forEach(Process::destroyForcibly);
    }

    /** E5: a directory that is shared by a group need not have the bit that hands its group on. */
    @Test
    void givenDirectoryOfAGroup_whenAFileIsMade_thenItIsOfThatGroup() throws Exception {
        Files.setAttribute(locks, "unix:gid", GROUP);
        Permissions.set(locks, "rwxrwx---");
        try (FlockStore store = new FlockStore(locks)) {
            granted(store.save(exclusive(Key.of("report"))));

            assertThat(Files.getAttribute(store.fileOf("report"), "unix:gid")).isEqualTo(GROUP);
            assertThat(Permissions.get(store.fileOf("report"))).isEqualTo("rw-rw----");
        }
        assertThat(visit(asUser(STRANGER + 1, GROUP), "exclusive")).isEqualTo("held");
    }

    /** E5: what nobody of the group could open would lock the group out for ever. */
    @Test
    void givenDirectoryOfAGroup_whenItsOwnerIsNotInIt_thenRefusedAndNothingIsLeft() throws Exception {
        Files.setAttribute(locks, "unix:uid", STRANGER);
        Files.setAttribute(locks, "unix:gid", GROUP);
        Permissions.set(locks, "rwxrwx---");

        assertThat(visit(asUser(STRANGER, STRANGER), "exclusive"))
                .startsWith("DENIED ")
                .contains("chmod g+s");

        assertThat(locks).isEmptyDirectory();
    }

    /**
     * E4: where {@code fs.protected_regular} is not 0, nobody may open what is another's in such a directory with
     * O_CREAT, not even root. Where it is 0, this shows no more than that it works there.
     */
    @ParameterizedTest
    @CsvSource({STRANGER + ", 0", "0, " + STRANGER})
    void givenStickyDirectoryOfAll_whenTwoUsersComeInTurn_thenBothMayUseTheLock(int first, int second)
            throws Exception {
        Files.setAttribute(locks, "unix:uid", STRANGER + 1);
        Files.setAttribute(locks, "unix:mode", 01777);

        assertThat(visit(asUser(first, first), "exclusive")).isEqualTo("held");
        end();

        assertThat(visit(asUser(second, second), "exclusive")).isEqualTo("held");
    }

    /** A file of root's that nobody else may open is a permission that is missing, and no passing failure. */
    @Test
    void givenAnothersPrivateFile_whenTaken_thenDenied() throws Exception {
        try (FlockStore store = new FlockStore(locks)) {
            granted(store.save(exclusive(Key.of("report"))));
        }
        Permissions.set(locks, "rwxrwxrwx");

        assertThat(visit(asUser(STRANGER, STRANGER), "exclusive")).startsWith("DENIED ");
    }

    /** Java finds no mount point of the lock directory there. */
    @Test
    void givenAChroot_whenTaken_thenHeld() throws Exception {
        String enter = "root=$1; shift; for needed in $NEEDED; do if [ -d $needed ]; then mkdir -p \"$root$needed\""
                + " && mount --rbind $needed \"$root$needed\" || exit; fi; done; exec chroot \"$root\" \"$@\"";
        String needed = "NEEDED=/usr /lib /lib64 /etc /proc " + System.getProperty("java.home") + " " + programs;
        List<String> command =
                List.of("env", needed, "unshare", "--mount", "sh", "-c", enter, "sh", directory.toString());

        assertThat(visit(command, "exclusive", "flock:///locks")).isEqualTo("held");

        assertThat(Permissions.get(onlyFileIn(locks))).isEqualTo("rw-------");
        end();
    }

    private static Path onlyFileIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            List<Path> all = files.toList();
            assertThat(all).hasSize(1);
            return all.get(0);
        }
    }

    /** E2: without an entry in the user database Java's home is "?", which is relative to wherever a process is. */
    @Test
    void givenUserWithoutAnEntry_whenNoHomeIsSet_thenRefused() throws Exception {
        List<String> command = asUser(STRANGER, STRANGER);
        command.addAll(List.of("env", "--unset=HOME", "--unset=XDG_STATE_HOME"));

        assertThat(visit(command, "exclusive", "flock")).startsWith("refused ").contains("flock:///var/locks");
    }

    /** E2. */
    @Test
    void givenUserWithoutAnEntry_whenHomeIsSet_thenItsLocksAreThere() throws Exception {
        Path home = Files.createDirectory(directory.resolve("home"));
        Files.setAttribute(home, "unix:uid", STRANGER);
        List<String> command = asUser(STRANGER, STRANGER);
        command.addAll(List.of("env", "--unset=XDG_STATE_HOME", "HOME=" + home));

        assertThat(visit(command, "exclusive", "flock")).isEqualTo("held");

        assertThat(home.resolve(".local/state/latchkey/locks")).isDirectoryContaining("glob:**.lock");
    }

    /** E9: the kernel lists no processes there that have no number here. */
    @ParameterizedTest
    @CsvSource({"exclusive, EXCLUSIVE", "shared, SHARED"})
    void givenHeldOutsideOfThisContainer_whenHoldersAreListedInIt_thenHeld(String how, LockMode mode) throws Exception {
        try (FlockStore store = new FlockStore(locks)) {
            assertThat(visit(List.of(), how)).isEqualTo("held");

            List<String> command = new ArrayList<>(List.of("unshare", "--pid", "--fork", "--mount-proc"));
            String listed = run(command, HolderList.class, "flock://" + locks);

            assertThat(listed).startsWith(mode + " ").contains("another PID namespace");
            assertThat(store.holders("report")).extracting(Holder::mode).containsExactly(mode);
            end();
            assertThat(run(command, HolderList.class, "flock://" + locks)).isEqualTo("nobody");
            assertThat(store.save(exclusive(Key.of("report")))).isInstanceOf(Response.Granted.class);
        }
    }

    /** Lists who holds a lock, a line each. */
    static final class HolderList {

        private HolderList() {}

        public static void main(String[] arguments) {
            try (FlockStore store = new FlockStore(Path.of(arguments[0].substring("flock://".length())))) {
                List<Holder> holders = store.holders("report");
                holders.forEach(holder -> System.out.println(
                        holder.mode() + " " + holder.description().orElseThrow()));
                if (holders.isEmpty()) {
                    System.out.println("nobody");
                }
            }
        }
    }

    private static List<String> asUser(int uid, int gid) {
        return new ArrayList<>(List.of("setpriv", "--reuid=" + uid, "--regid=" + gid, "--clear-groups"));
    }

    private String visit(List<String> before, String how) throws IOException {
        return visit(before, how, "flock://" + locks);
    }

    private String visit(List<String> before, String how, String dsn) throws IOException {
        return run(before, Visitor.class, dsn, how);
    }

    /** Runs a program, in this way, and returns its first line; it may run on. */
    private String run(List<String> before, Class<?> program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(before);
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        command.addAll(List.of(java.toString(), "-XX:TieredStopAtLevel=1", "-cp", classPath()));
        command.add(program.getName());
        command.addAll(Arrays.asList(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        Map<String, String> environment = builder.environment();
        environment.put("LC_ALL", "C");
        builder.directory(Path.of("/").toFile());
        Process process = builder.start();
        started.add(process);
        BufferedReader output = process.inputReader();
        return String.valueOf(output.readLine());
    }

    private void end() throws Exception {
        for (Process process : started) {
            process.getOutputStream().close();
            assertThat(process.waitFor()).isZero();
        }
        started.clear();
    }

    static boolean canBecomeOthers() {
        boolean allowed = "root".equals(System.getProperty("user.name")) && Files.isDirectory(Path.of("/proc/self/ns"));
        if (!allowed) {
            System.err.println("NOT RUN: lock files between users and containers. To run it, be root on Linux");
        }
        return allowed;
    }
}
