package dev.latchkey.testkit;

import dev.latchkey.LockException;
import dev.latchkey.LockMode;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.tree.PullRequiredException;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An editor in a process that is going to be killed. It writes down what it does before and after doing it, in files that
 * outlive it, and while it may change an id it has a file of that name, which nobody else must have at the same time.
 */
final class TreeActor {

    static final String ASKING = "asking";
    static final String PUSHED = "pushed";
    static final String VISITED = "visited";
    static final String VIOLATION = "violation";

    private static final String ROOT = "root";
    private static final Duration WAIT = Duration.ofSeconds(5);

    private final TreeEditor locks;
    private final Path directory;
    private final String name;

    TreeActor(PersistingStore store, String tree, Duration ttl, Path directory, String name) {
        this.locks = TreeLocks.of(store, tree).ttl(ttl).autoRefresh().create().createEditor(TreeActor::parents);
        this.directory = directory;
        this.name = name;
    }

    /** Contract trees have their own shape; others have families below a root. */
    private static List<String> parents(String id) {
        List<String> known = TreeLocksContract.PARENTS.get(id);
        if (known != null) {
            return known;
        }
        int slash = id.indexOf('/');
        return List.of(slash < 0 ? ROOT : id.substring(0, slash));
    }

    /** The ids that {@link #lockFamilies} locks in one request. */
    static Set<String> children(String family, int size) {
        return IntStream.range(0, size).mapToObj(i -> family + "/" + i).collect(Collectors.toSet());
    }

    /** Locks one family after the other, all children of each in one request, and gives up nothing. */
    void lockFamilies(int size) throws IOException {
        for (int number = 0; ; number++) {
            String family = name + number;
            note(ASKING + " " + family);
            locks.acquire(new TreeRequest(children(family, size), Set.of()));
        }
    }

    /** Locks, changes and pushes what comes into its mind. */
    void edit(Random random) throws IOException, InterruptedException {
        List<String> ids = List.copyOf(TreeLocksContract.PARENTS.keySet());
        while (true) {
            locks.pulled(lastNumber());
            TreeRequest request = new TreeRequest(
                    Set.of(ids.get(random.nextInt(ids.size()))), Set.of(ids.get(random.nextInt(ids.size()))));
            try {
                locks.acquire(request, WAIT);
                visit(ids);
                locks.releaseAll();
                note(VISITED);
            } catch (TreeConflictException | PullRequiredException e) {
                // Next time, perhaps.
            } catch (LockException e) {
                note("failed " + e.getMessage());
                locks.releaseAll();
            }
        }
    }

    private void visit(List<String> ids) throws IOException {
        List<Path> mine = new ArrayList<>();
        try {
            for (String id : ids) {
                Path place = directory.resolve("at-" + id);
                if (locks.holdsShared(id)) {
                    livingOwner(place).ifPresent(owner -> violation(id, owner));
                }
                if (locks.holdsExclusive(id)) {
                    mine.add(place);
                    Files.writeString(
                            place, Long.toString(ProcessHandle.current().pid()));
                }
            }
            push();
        } finally {
            for (Path own : mine) {
                Files.delete(own);
            }
        }
    }

    private static Optional<Long> livingOwner(Path file) {
        try {
            String pid = Files.readString(file);
            // A file without a number was opened by somebody who was killed before writing it.
            return pid.isEmpty()
                    ? Optional.empty()
                    : Optional.of(Long.parseLong(pid))
                            .filter(owner -> ProcessHandle.of(owner)
                                    .filter(ProcessHandle::isAlive)
                                    .isPresent());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private void violation(String id, long owner) {
        try {
            // Does nothing but tell an editor that was too slow, and so in the wrong.
            locks.refresh();
            note(VIOLATION + " " + id + " of " + owner);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void push() throws IOException {
        String changed = locks.held().entrySet().stream()
                .filter(held -> held.getValue() == LockMode.EXCLUSIVE)
                .map(held -> " " + held.getKey())
                .collect(Collectors.joining());
        long number = nextNumber();
        locks.pushedRetaining(number);
        note(PUSHED + " " + number + changed);
    }

    /** Whoever makes the file has the number. */
    private long nextNumber() throws IOException {
        for (long number = lastNumber() + 1; ; number++) {
            try {
                Files.createFile(directory.resolve("change-" + number));
                return number;
            } catch (FileAlreadyExistsException e) {
                // Another was faster.
            }
        }
    }

    private long lastNumber() {
        return lastNumber(directory);
    }

    static long lastNumber(Path directory) {
        String[] changes = directory.toFile().list((in, file) -> file.startsWith("change-"));
        return changes == null ? 0 : changes.length;
    }

    private void note(String line) throws IOException {
        Files.writeString(
                directory.resolve("said-by-" + name),
                line + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** What an actor has written down so far; but for a last line that is not whole. */
    static List<List<String>> said(Path directory, String name) throws IOException {
        Path file = directory.resolve("said-by-" + name);
        String text = Files.exists(file) ? Files.readString(file) : "";
        return text.substring(0, text.lastIndexOf('\n') + 1)
                .lines()
                .map(line -> List.of(line.split(" ", -1)))
                .toList();
    }
}
