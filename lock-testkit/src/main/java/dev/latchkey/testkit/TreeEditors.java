package dev.latchkey.testkit;

import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;

/** Creates the editors of the contracts, each with threads of its own, as in a process of its own. */
final class TreeEditors {

    private TreeEditors() {}

    static TreeEditor create(Fixture fixture, TreeLocks.Builder options) {
        return fixture.closing(options.create()).createEditor(TreeLocksContract.PARENTS::get);
    }
}
