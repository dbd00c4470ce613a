package dev.latchkey.fuzz;

import dev.latchkey.tree.TreeSavepoint;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an application has to keep in mind that edits a tree: what it changed since when, and what it has not finished pushing. Of
 * what gives up locks it does one thing at a time, and changes nothing meanwhile.
 */
final class Desk {

    /** A savepoint with how many changes there were. */
    static final class Mark {
        private final TreeSavepoint savepoint;
        private int changes;

        Mark(TreeSavepoint savepoint, int changes) {
            this.savepoint = savepoint;
            this.changes = changes;
        }

        TreeSavepoint savepoint() {
            return savepoint;
        }
    }

    private final View view;
    private final List<Mark> marks = new ArrayList<>();
    private History.@Nullable Push push;
    private boolean closing;
    private boolean untoldLoss;
    private boolean busy;
    private int running;
    private int ending;
    private int begun;

    Desk(View view) {
        this.view = view;
    }

    View view() {
        return view;
    }

    void mark(TreeSavepoint savepoint) {
        marks.add(new Mark(savepoint, view.unpushed()));
    }

    @Nullable Mark drawMark(World world) {
        return marks.isEmpty() ? null : marks.get(world.draw(marks.size()));
    }

    /** Takes back what was changed since a mark. */
    void undoTo(Mark mark) {
        undoTo(mark.changes);
    }

    void undoAll() {
        undoTo(0);
    }

    private void undoTo(int count) {
        view.undoTo(count);
        marks.forEach(mark -> mark.changes = Math.min(mark.changes, view.unpushed()));
    }

    /** Begins to push, unless that was begun. */
    History.Push push() {
        History.Push begunBefore = push;
        History.Push now = begunBefore == null ? view.push() : begunBefore;
        push = now;
        marks.forEach(mark -> mark.changes = 0);
        return now;
    }

    boolean isPushing() {
        return push != null;
    }

    /** What was being pushed is made, or its number is left without a change. */
    void endsPush(boolean made) {
        History.Push now = push;
        push = null;
        if (now != null && made && !closing) {
            view.pushed(now);
        } else if (now != null) {
            view.abandon(now);
        }
    }

    /** False if something else gives up locks already. */
    boolean takes() {
        if (busy || closing) {
            return false;
        }
        busy = true;
        return true;
    }

    void leaves() {
        busy = false;
    }

    boolean isBusy() {
        return busy || closing;
    }

    void closes() {
        closing = true;
    }

    boolean isClosing() {
        return closing;
    }

    /** A call begins; returns its number. */
    int begin(boolean ends) {
        running++;
        ending += ends ? 1 : 0;
        return ++begun;
    }

    void end(boolean ends) {
        running--;
        ending -= ends ? 1 : 0;
    }

    /** Whether no other call was under way since that with this number. */
    boolean isAlone(int number) {
        return running == 1 && begun == number;
    }

    boolean isAtRest() {
        return running == 0;
    }

    /** Whether a call that may end what is held is under way. */
    boolean mayEnd() {
        return ending > 0;
    }

    void loses() {
        untoldLoss = true;
    }

    void isTold() {
        untoldLoss = false;
    }

    boolean hasUntoldLoss() {
        return untoldLoss;
    }
}
