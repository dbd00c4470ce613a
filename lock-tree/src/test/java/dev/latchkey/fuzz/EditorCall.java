package dev.latchkey.fuzz;

import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.tree.PullRequiredException;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeRequest;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One call of an {@link Editor}'s locks, and whether what came of it is what it promises. */
final class EditorCall {

    /** The call. */
    interface Work {
        void run() throws InterruptedException;
    }

    /** What came of it. */
    enum End {
        RETURNED,
        REFUSED,
        FAILED,
        LOST
    }

    /** What it promises besides. */
    private enum Kind {
        OTHER,
        TAKES,
        SETTLES,
        ENDS,
        RELEASES,
        CLOSES
    }

    private final World world;
    private final Editor editor;
    private final Desk desk;
    private final String name;
    private Kind kind = Kind.OTHER;
    private Optional<TreeRequest> request = Optional.empty();

    private Map<String, LockMode> modes = Map.of();
    private @Nullable Object hold;
    private boolean alone;
    private int number;
    private int losses;
    private int failures;
    private boolean wasLost;
    private boolean wasUntold;

    EditorCall(World world, Editor editor, String name) {
        this.world = world;
        this.editor = editor;
        this.desk = editor.desk();
        this.name = editor.name() + "." + name;
    }

    EditorCall takes(TreeRequest what) {
        request = Optional.of(what);
        kind = Kind.TAKES;
        return this;
    }

    EditorCall settles() {
        kind = Kind.SETTLES;
        return this;
    }

    EditorCall ends() {
        kind = Kind.ENDS;
        return this;
    }

    EditorCall releases() {
        kind = Kind.RELEASES;
        return this;
    }

    EditorCall closes() {
        kind = Kind.CLOSES;
        return this;
    }

    private boolean mayEnd() {
        return kind.compareTo(Kind.ENDS) >= 0;
    }

    End run(Work work) {
        begin();
        End end;
        try {
            work.run();
            world.note(name + " returned");
            end = End.RETURNED;
        } catch (LockLostException e) {
            end = threw(e, End.LOST);
        } catch (LockStorageException e) {
            end = threw(e, End.FAILED);
        } catch (TreeConflictException | PullRequiredException | InterruptedException e) {
            end = threw(e, End.REFUSED);
            if (kind != Kind.TAKES) {
                throw editor.wrong(name + " threw " + e);
            }
        } catch (IllegalStateException e) {
            end = threw(e, End.REFUSED);
            if (!desk.isClosing() || kind == Kind.SETTLES || kind == Kind.RELEASES || kind == Kind.CLOSES) {
                throw editor.wrong(name + " threw " + e);
            }
        } catch (IllegalArgumentException e) {
            end = threw(e, End.REFUSED);
            if (!String.valueOf(e.getMessage()).contains("has ended")) {
                throw editor.wrong(name + " threw " + e);
            }
        }
        judge(end);
        return end;
    }

    private End threw(Exception e, End end) {
        world.note(name + " threw " + e);
        return end;
    }

    private void begin() {
        world.note(name);
        editor.check();
        number = desk.begin(mayEnd());
        alone = desk.isAlone(number);
        modes = editor.modes();
        hold = editor.hold();
        losses = editor.losses();
        failures = editor.ledger().failures();
        wasLost = editor.isLost();
        wasUntold = desk.hasUntoldLoss();
    }

    private void judge(End end) {
        editor.check();
        alone &= desk.isAlone(number);
        desk.end(mayEnd());
        if (end == End.LOST) {
            judgeLost();
            desk.isTold();
        }
        if (alone) {
            judgeAlone(end);
        }
        if (desk.isAtRest()) {
            editor.checkAtRest();
        }
    }

    private void judgeLost() {
        // What is given up may be over before the store hears of it.
        boolean wasHeld = mayEnd() && (hold != null || !alone);
        if (!wasLost && editor.losses() == losses && !editor.isLost() && !wasHeld) {
            throw editor.wrong(name + " threw a loss, and nothing was lost");
        }
        if (alone && kind == Kind.CLOSES && modes.isEmpty() && !wasUntold) {
            throw editor.wrong(name + " threw a loss that had been told, or was none");
        }
    }

    private void judgeAlone(End end) {
        boolean isSame = hold == editor.hold() && !editor.isLost() && !wasLost;
        if (kind == Kind.TAKES && end == End.RETURNED && !editor.isLost()) {
            request.ifPresent(this::checkTaken);
        }
        if (kind == Kind.TAKES
                && end != End.RETURNED
                && isSame
                && !editor.modes().equals(modes)) {
            throw editor.wrong(name + " failed, and changed what was held");
        }
        if (kind == Kind.SETTLES && end == End.RETURNED && editor.ledger().failures() == failures) {
            editor.isSettled();
        }
        if (kind == Kind.RELEASES && end != End.LOST) {
            checkReleased();
        }
        if (kind == Kind.CLOSES && end == End.RETURNED && wasUntold) {
            throw editor.wrong(name + " returned, and no call has told of a loss");
        }
    }

    private void checkTaken(TreeRequest what) {
        boolean hasAll = what.exclusive().stream().allMatch(id -> editor.mayChange(number(id)))
                && what.shared().stream().allMatch(id -> editor.mayRelyOn(number(id)));
        if (!hasAll) {
            throw editor.wrong(name + " returned, and not all of it is held");
        }
    }

    private static int number(String id) {
        return Integer.parseInt(id.substring(1));
    }

    private void checkReleased() {
        if (!editor.modes().isEmpty() || editor.isLost()) {
            throw editor.wrong(name + " ended, and something is held, or lost, still");
        }
        desk.isTold();
    }
}
