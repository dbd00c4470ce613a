package dev.latchkey.fuzz;

/** What gives up locks of a tree, or says that changes are pushed: for one editor, one thing at a time. */
final class Endings {

    private final World world;

    Endings(World world) {
        this.world = world;
    }

    Runnable pushing(Editor editor) {
        boolean retains = world.oneIn(2);
        return exclusively(editor, () -> push(editor, retains));
    }

    private void push(Editor editor, boolean retains) {
        Desk desk = editor.desk();
        if (!desk.isPushing() && !editor.believes()) {
            return;
        }
        long index = desk.push().number();
        EditorCall call = new EditorCall(world, editor, (retains ? "pushedRetaining(" : "pushed(") + index + ")");
        EditorCall.End end = (retains ? call : call.ends()).run(() -> {
            if (retains) {
                editor.locks().pushedRetaining(index);
            } else {
                editor.locks().pushed(index);
            }
        });
        if (end != EditorCall.End.FAILED) {
            desk.endsPush(end == EditorCall.End.RETURNED);
        }
    }

    /** What has not been recorded has to be before anything is given up. */
    private Runnable exclusively(Editor editor, Runnable work) {
        return () -> {
            if (editor.desk().takes()) {
                try {
                    work.run();
                } finally {
                    editor.desk().leaves();
                }
            }
        };
    }

    private Runnable givingUp(Editor editor, Runnable work) {
        return exclusively(editor, () -> {
            if (editor.desk().isPushing()) {
                push(editor, true);
            } else {
                work.run();
            }
        });
    }

    Runnable rollingBack(Editor editor) {
        return givingUp(editor, () -> {
            Desk.Mark mark = editor.desk().drawMark(world);
            if (mark != null) {
                editor.desk().undoTo(mark);
                new EditorCall(world, editor, "rollback(" + mark.savepoint() + ")")
                        .ends()
                        .run(() -> editor.locks().rollback(mark.savepoint()));
            }
        });
    }

    Runnable releasing(Editor editor) {
        return givingUp(editor, () -> {
            editor.desk().undoAll();
            new EditorCall(world, editor, "releaseAll()").releases().run(editor.locks()::releaseAll);
        });
    }

    Runnable closing(Editor editor) {
        return () -> {
            editor.desk().closes();
            editor.desk().undoAll();
            new EditorCall(world, editor, "close()").closes().run(editor.locks()::close);
            editor.desk().endsPush(false);
        };
    }
}
