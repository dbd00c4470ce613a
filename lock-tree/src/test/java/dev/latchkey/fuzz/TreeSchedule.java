package dev.latchkey.fuzz;

import dev.latchkey.spi.StateRule;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.tree.TreeLocks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One schedule of a tree: two or three editors, a few threads that use them, and what must hold after each step. */
final class TreeSchedule implements World.Rules {

    private static final long[] TTLS = {100, 1_000, 5_000};
    private static final TreeBorder.Reach[] REACHES = TreeBorder.Reach.values();

    private final World world;
    private final InMemoryStore store = new InMemoryStore();
    private final History history;
    private final List<Editor> editors = new ArrayList<>();
    private final List<Fiber> users = new ArrayList<>();
    private final TreeOperations operations;
    private int left;
    private int closed;

    TreeSchedule(World world) {
        this.world = world;
        this.history = History.draw(world);
        world.note("   tree " + history.first());
        int faultIn = world.oneIn(3) ? 0 : 2 + world.draw(8);
        TreeBorder.Reach reach = REACHES[world.draw(REACHES.length)];
        Optional<StateRule> rule = world.oneIn(6)
                ? (world.oneIn(2) ? Optional.empty() : Optional.of(StateRule.EXCLUSIVE_INDEX))
                : Optional.of(StateRule.BOTH_INDEXES);
        long ttl = TTLS[world.draw(TTLS.length)];
        world.setLongestStep(ttl * 700_000);
        int count = 2 + world.draw(2);
        boolean isShared = world.oneIn(2);
        Ledger ledger = Ledger.shared();
        boolean isRenewed = world.oneIn(2);
        TreeLocks locks = locks(new TreeBorder(world, store, faultIn, reach, ledger), rule, ttl, isRenewed);
        world.note("   TTL " + ttl + " ms, " + reach + ", " + rule + (isShared ? ", one TreeLocks" : ""));
        for (int i = 0; i < count; i++) {
            if (!isShared) {
                ledger = Ledger.ofOneEditor();
                isRenewed = world.oneIn(2);
                locks = locks(new TreeBorder(world, store, faultIn, reach, ledger), rule, ttl, isRenewed);
            }
            String name = "editor " + (char) ('A' + i);
            world.note("   " + name + (isRenewed ? ": renewed" : ""));
            editors.add(new Editor(
                    world,
                    name,
                    store,
                    locks,
                    ledger,
                    new Desk(new View(history)),
                    rule.equals(Optional.of(StateRule.BOTH_INDEXES))));
        }
        int threads = 2 + world.draw(2);
        for (int i = 0; i < threads; i++) {
            users.add(world.addUser("thread " + (i + 1)));
        }
        this.left = 5 + world.draw(45);
        this.operations = new TreeOperations(
                world,
                editors,
                users,
                history.size(),
                rule.filter(StateRule.BOTH_INDEXES::equals).isPresent());
    }

    private TreeLocks locks(TreeBorder border, Optional<StateRule> rule, long ttl, boolean isRenewed) {
        TreeLocks.Builder builder = TreeLocks.of(border, "tree").ttl(Duration.ofMillis(ttl));
        if (isRenewed) {
            builder.autoRefresh();
        }
        rule.ifPresentOrElse(builder::stateRule, builder::withoutStateRule);
        return builder.create();
    }

    @Override
    public boolean beginNext(Fiber user) {
        if (left == 0 || !users.contains(user)) {
            return false;
        }
        left--;
        user.add(operations.draw());
        return true;
    }

    @Override
    public boolean windUp() {
        left = 0;
        if (closed == editors.size()) {
            return false;
        }
        Editor editor = editors.get(closed++);
        world.addUser("closer " + closed).add(new Endings(world).closing(editor));
        return true;
    }

    @Override
    public void check() {
        editors.forEach(Editor::check);
        for (int id = 0; id < history.size(); id++) {
            for (Editor one : editors) {
                if (one.mayChange(id)) {
                    checkAlone(one, id);
                }
            }
        }
    }

    private void checkAlone(Editor one, int id) {
        for (Editor other : editors) {
            if (other != one && (other.mayChange(id) || other.mayRelyOn(id))) {
                throw one.wrong("it may change n" + id + ", and so may " + other.name()
                        + (other.mayChange(id) ? "" : " rely on it"));
            }
        }
    }

    @Override
    public void checkTold() {
        editors.forEach(Editor::checkTold);
    }
}
