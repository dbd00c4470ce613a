package dev.latchkey.examples;

import dev.latchkey.jdbc.JdbcStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.tree.PullRequiredException;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One of several editors of a plant, each a process of its own: they pull, lock, change and push.
 *
 * <p>{@code PlantEditor DIRECTORY NAME} reads commands from the standard input and answers each with one line. The directory is
 * what the editors share: the changes, one numbered file each, and an SQLite file with the locks.
 */
public final class PlantEditor {

    /** The parents of each part; the plant itself is the root, and its lock the schema lock. */
    private static final Map<String, List<String>> PARTS = Map.of(
            "plant", List.of(),
            "hall", List.of("plant"),
            "yard", List.of("plant"),
            "pump", List.of("hall"),
            "valve", List.of("hall"));

    private final Path changes;
    private final String name;
    private final TreeEditor locks;
    private final Map<String, String> state = new TreeMap<>();
    private final Map<String, String> changed = new TreeMap<>();
    private long index;

    private PlantEditor(Path changes, String name, TreeEditor locks) {
        this.changes = changes;
        this.name = name;
        this.locks = locks;
    }

    /**
     * Edits until {@code quit} or the end of the input.
     *
     * @param args the directory, and who edits
     * @throws IOException if the directory cannot be used
     */
    public static void main(String[] args) throws IOException {
        Path changes = Files.createDirectories(Path.of(args[0], "changes"));
        String dsn = "jdbc:sqlite:" + Path.of(args[0], "locks.db");
        try (PersistingStore store = new JdbcStore.Provider().open(dsn);
                TreeLocks locks = TreeLocks.of(store, "plant")
                        .ttl(Duration.ofMinutes(1))
                        .autoRefresh()
                        .create();
                TreeEditor own = locks.createEditor(PARTS::get);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            own.onLost(reason -> System.err.println("the locks were lost: " + reason));
            PlantEditor editor = new PlantEditor(changes, args[1], own);
            String line = in.readLine();
            while (line != null && !line.equals("quit")) {
                System.out.println(editor.answer(List.of(line.split(" ", -1))));
                line = in.readLine();
            }
        }
    }

    private String answer(List<String> words) throws IOException {
        try {
            return switch (words.get(0)) {
                case "pull" -> pull();
                case "lock" -> lock(words.subList(1, words.size()));
                case "change" -> change(words.get(1), words.get(2));
                case "push" -> push();
                case "abandon" -> abandon();
                case "show" -> state.toString();
                default -> "pull, lock PART …, change PART VALUE, push, abandon, show or quit";
            };
        } catch (TreeConflictException e) {
            return "conflict: " + e.blocked().keySet();
        } catch (PullRequiredException e) {
            return "a pull is required: " + e.stale() + " changed with " + e.required();
        } catch (IllegalStateException e) {
            return "refused: " + e.getMessage();
        }
    }

    /** Reads the changes of the others, and says which one is known now. */
    private String pull() throws IOException {
        Path next = file(index + 1);
        while (Files.exists(next)) {
            for (String line : Files.readAllLines(next)) {
                state.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
            }
            index++;
            next = file(index + 1);
        }
        locks.pulled(index);
        return "at " + index;
    }

    private String lock(List<String> parts) {
        locks.acquire(TreeRequest.exclusive(parts.toArray(String[]::new)));
        return "locked: " + new TreeMap<>(locks.held());
    }

    private String change(String part, String value) {
        locks.checkExclusive(part);
        changed.put(part, name + ":" + value);
        return "changed";
    }

    /** Others may have pushed changes of other parts meanwhile: those are pulled first, and the next number is tried. */
    private String push() throws IOException {
        if (changed.isEmpty()) {
            return "nothing to push";
        }
        StringBuilder text = new StringBuilder();
        changed.forEach(
                (part, value) -> text.append(part).append('=').append(value).append('\n'));
        while (true) {
            String unused = pull();
            Path whole = Files.writeString(changes.resolve(name + ".tmp"), text);
            try {
                Files.createLink(file(index + 1), whole);
                break;
            } catch (FileAlreadyExistsException e) {
                // Another was faster: its change is pulled, and the next number tried.
            } finally {
                Files.delete(whole);
            }
        }
        changed.clear();
        String pushed = pull();
        locks.pushed(index);
        return "pushed, " + pushed;
    }

    private String abandon() {
        changed.clear();
        locks.releaseAll();
        return "abandoned";
    }

    private Path file(long number) {
        return changes.resolve(String.format("%06d.txt", number));
    }
}
