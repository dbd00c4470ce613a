package dev.latchkey.fuzz;

import dev.latchkey.tree.TreeRequest;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** What the threads of a {@link TreeSchedule} do, drawn at random. */
final class TreeOperations {

    private final World world;
    private final List<Editor> editors;
    private final List<Fiber> users;
    private final int ids;
    private final boolean moves;
    private final Endings endings;

    /** What many want to have. */
    private final int favourite;

    TreeOperations(World world, List<Editor> editors, List<Fiber> users, int ids, boolean moves) {
        this.world = world;
        this.editors = editors;
        this.users = users;
        this.ids = ids;
        this.moves = moves;
        this.endings = new Endings(world);
        this.favourite = world.draw(ids);
    }

    Runnable draw() {
        Editor editor = editors.get(world.draw(editors.size()));
        int drawn = world.draw(40);
        if (drawn < 9) {
            TreeRequest request = request();
            return acquiring(
                    editor,
                    "acquire(" + request + ")",
                    request,
                    () -> editor.locks().acquire(request));
        } else if (drawn < 11) {
            TreeRequest request = request();
            Duration wait = Duration.ofMillis(world.draw(world.oneIn(2) ? 3_000 : 300));
            return acquiring(
                    editor,
                    "acquire(" + request + ", " + wait + ")",
                    request,
                    () -> editor.locks().acquire(request, wait));
        } else if (drawn < 16) {
            return refreshing(editor);
        } else if (drawn < 19) {
            return pulling(editor);
        } else if (drawn < 24) {
            return changing(editor);
        } else if (drawn < 28) {
            return endings.pushing(editor);
        } else if (drawn < 30) {
            return call(
                    editor,
                    "savepoint()",
                    () -> editor.desk().mark(editor.locks().savepoint()));
        } else if (drawn < 33) {
            return endings.rollingBack(editor);
        } else if (drawn < 36) {
            return reinstating(editor);
        } else if (drawn < 38) {
            return endings.releasing(editor);
        } else if (drawn < 39) {
            Fiber user = users.get(world.draw(users.size()));
            return () -> {
                world.note("interrupts " + user.name());
                user.interrupt();
            };
        }
        return world.oneIn(3) ? endings.closing(editor) : endings.releasing(editor);
    }

    private TreeRequest request() {
        Set<String> exclusive = new LinkedHashSet<>();
        Set<String> shared = new LinkedHashSet<>();
        int count = 1 + world.draw(2);
        for (int i = 0; i < count; i++) {
            (world.oneIn(3) ? shared : exclusive).add("n" + drawId());
        }
        return new TreeRequest(exclusive, shared);
    }

    private int drawId() {
        return world.oneIn(3) ? favourite : world.draw(ids);
    }

    private Runnable acquiring(Editor editor, String name, TreeRequest request, EditorCall.Work work) {
        return () -> new EditorCall(world, editor, name).takes(request).run(work);
    }

    private Runnable call(Editor editor, String name, EditorCall.Work work) {
        return () -> new EditorCall(world, editor, name).run(work);
    }

    private Runnable refreshing(Editor editor) {
        return () -> new EditorCall(world, editor, "refresh()").settles().run(editor.locks()::refresh);
    }

    private Runnable pulling(Editor editor) {
        return () -> {
            View view = editor.desk().view();
            if (view.canPull()) {
                long index = view.pull();
                world.note(editor.name() + ".pulled(" + index + ")");
                editor.locks().pulled(index);
            }
        };
    }

    /** Moves an id, or changes what is in it. */
    private Runnable changing(Editor editor) {
        return () -> {
            editor.check();
            List<Integer> own =
                    IntStream.range(0, ids).filter(editor::mayChange).boxed().toList();
            if (!own.isEmpty() && !editor.desk().isBusy() && !editor.desk().isPushing()) {
                int id = own.get(world.draw(own.size()));
                Set<String> parents = moves && id > 0 ? drawParents(editor, id) : Set.of();
                world.note(editor.name() + " changes n" + id
                        + (parents.isEmpty() ? "" : ", which is in " + parents + " now"));
                editor.desk().view().make(new History.Change("n" + id, List.copyOf(parents)));
            }
        };
    }

    /** One or two that the editor may move it to; none if it stays. */
    private Set<String> drawParents(Editor editor, int id) {
        Set<String> parents = new TreeSet<>();
        for (int i = 0; i < 3; i++) {
            int to = world.draw(ids);
            if (mayMove(editor, id, to) && (parents.isEmpty() || world.oneIn(3))) {
                parents.add("n" + to);
            }
        }
        return parents;
    }

    private static boolean mayMove(Editor editor, int id, int to) {
        // What is covered alone is locked no longer where nothing covers it: the page says to lock it there.
        boolean isLockedThere = editor.holdsItself(id) || editor.mayChange(to);
        return isLockedThere && editor.mayRelyOn(to) && !editor.desk().view().isBelow("n" + to, "n" + id);
    }

    private Runnable reinstating(Editor editor) {
        return () -> {
            Desk.Mark mark = editor.desk().drawMark(world);
            if (mark != null) {
                new EditorCall(world, editor, "reinstate(" + mark.savepoint() + ")")
                        .takes(new TreeRequest(Set.of(), Set.of()))
                        .run(() -> editor.locks().reinstate(mark.savepoint()));
            }
        };
    }
}
