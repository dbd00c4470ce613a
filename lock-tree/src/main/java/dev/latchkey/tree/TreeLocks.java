package dev.latchkey.tree;

import dev.latchkey.LockLostException;
import dev.latchkey.spi.IndexStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateRule;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks on one tree, for the editors of this process. All editors share a few threads, which start only when an editor needs
 * them, and their locks are renewed together.
 *
 * <p>Create one object per tree and store, and keep it. Editors of the same tree in other processes have objects of their own.
 *
 * <p>Thread-safe.
 */
public final class TreeLocks implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(TreeLocks.class);

    private final String tree;
    private final PersistingStore store;
    private final Optional<IndexStore> indexes;
    private final StateRule rule;
    private final EditorLockFactory editorLocks;

    /** Weak: an editor that the application drops while it holds nothing leaves nothing behind. Guarded by itself. */
    private final Set<EditorSession> editors = Collections.newSetFromMap(new WeakHashMap<>());

    /** Guarded by {@link #editors}. */
    private boolean isClosed;

    private TreeLocks(Builder options) {
        this.tree = options.tree;
        this.store = options.store;
        this.indexes = options.rule.flatMap(on -> options.indexes);
        this.rule = options.rule.orElse(StateRule.BOTH_INDEXES);
        this.editorLocks = new EditorLockFactory(tree, store, options.ttl, options.renewal);
    }

    /**
     * Returns a builder for the locks on a tree.
     *
     * @param store the store that keeps the holds, which the caller owns. It must have shared locks. A
     *     {@link dev.latchkey.spi.BatchStore} gets one call for each request, other stores get one for each id
     * @param tree the name of the tree, the same for all its editors
     * @return a builder
     * @throws IllegalArgumentException if the store has no shared locks, or the name is not 1 to 100 letters, digits,
     *     dots, hyphens or underscores that start with a letter or digit
     */
    public static Builder of(PersistingStore store, String tree) {
        return new Builder(store, tree);
    }

    /**
     * Creates an editor. Each call creates another one.
     *
     * @param parents returns the current parents of an id, as this editor knows the tree: none for a root, null for an
     *     unknown id. It may be called for any id that is locked, requested or checked, and for their ancestors, on any
     *     thread, and may take its time. Its exceptions are thrown by the call that needed it
     * @return an editor that holds nothing yet
     * @throws IllegalStateException if this object was closed
     */
    public TreeEditor createEditor(Function<String, ? extends Collection<String>> parents) {
        return createEditor(parents, id -> false);
    }

    /**
     * Creates an editor that creates ids. An id that it has created and not pushed yet needs no lock, because no other
     * editor knows it: it counts as held exclusively, and is never sent to the store. Its parents must be held as usual
     * when something is added below the parents.
     *
     * @param parents returns the current parents of an id, as for {@link #createEditor(Function)}
     * @param isNew returns whether an id is new; it is called under the same conditions as {@code parents}. If ids are
     *     increasing, it can compare an id with the greatest one of the last push
     * @return an editor that holds nothing yet
     * @throws IllegalStateException if this object was closed
     */
    public TreeEditor createEditor(Function<String, ? extends Collection<String>> parents, Predicate<String> isNew) {
        Ancestors.Tree view =
                new Ancestors.Tree(Objects.requireNonNull(parents, "parents"), Objects.requireNonNull(isNew, "isNew"));
        synchronized (editors) {
            if (isClosed) {
                throw new IllegalStateException(
                        "tree \"" + tree + "\": these locks were closed: create new ones to edit the tree");
            }
            EditorSession editor = new EditorSession(tree, view, new BatchRequests(store, indexes, rule), editorLocks);
            editors.add(editor);
            return editor;
        }
    }

    /**
     * Closes all editors: ends their waits, and releases what they hold. A failure of the store and a loss that no call
     * has reported are logged. Does not close the store. Idempotent.
     */
    @Override
    public void close() {
        List<EditorSession> open;
        synchronized (editors) {
            isClosed = true;
            open = List.copyOf(editors);
        }
        try {
            open.forEach(this::close);
        } finally {
            // Releases what editors held that the application has dropped.
            editorLocks.close();
        }
    }

    private void close(EditorSession editor) {
        try {
            editor.close();
        } catch (LockLostException e) {
            // The factory has logged it.
            log.debug("lock.editor_lost tree={} reason={}", tree, e.reason());
        } catch (RuntimeException e) {
            log.error("lock.close_failed tree={}", tree, e);
        }
    }

    /** Creates {@link TreeLocks} with options. Not thread-safe. */
    public static final class Builder {

        private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

        private final PersistingStore store;
        private final String tree;
        private Optional<IndexStore> indexes;
        private Optional<StateRule> rule = Optional.of(StateRule.BOTH_INDEXES);
        private Duration ttl = Duration.ofMinutes(5);
        private EditorLockFactory.RenewalPolicy renewal = EditorLockFactory.RenewalPolicy.BY_THE_EDITOR;

        private Builder(PersistingStore store, String tree) {
            if (store.capability(SharedStore.class).isEmpty()) {
                throw new IllegalArgumentException("locks on a tree need a store with shared locks: with "
                        + store.getClass().getSimpleName() + " two editors could never hold locks of one tree");
            }
            if (!NAME.matcher(tree).matches()) {
                throw new IllegalArgumentException(
                        "tree name " + IdText.id(tree)
                                + ": must be 1 to 100 letters, digits, dots, hyphens or underscores, beginning with a letter or digit");
            }
            this.store = store;
            this.tree = tree;
            this.indexes = store.capability(IndexStore.class);
        }

        /**
         * Keeps state indexes in another place than the store of the locks. They are then checked after a grant, which is
         * given back if the editor does not know enough.
         *
         * @param other the store of the indexes, which the caller owns
         * @return this
         */
        public Builder indexes(IndexStore other) {
            this.indexes = Optional.of(other);
            return this;
        }

        /**
         * Sets which changes an editor must know. The default is {@link StateRule#BOTH_INDEXES}. All editors of a tree
         * must use the same rule.
         *
         * @param chosen the rule
         * @return this
         */
        public Builder stateRule(StateRule chosen) {
            this.rule = Optional.of(chosen);
            return this;
        }

        /**
         * Keeps no state indexes: an editor that acquires a lock may change what it protects without knowing the last
         * changes.
         *
         * @return this
         */
        public Builder withoutStateRule() {
            this.rule = Optional.empty();
            return this;
        }

        /**
         * Sets the time after which the store ends the locks of an editor if they are not refreshed. The default is
         * 300 s. Stores without leases ignore it.
         *
         * @param newTtl from 3 ms to 100 years, within the limits of the store; checked by {@link #create}
         * @return this
         */
        public Builder ttl(Duration newTtl) {
            this.ttl = newTtl;
            return this;
        }

        /**
         * Refreshes the locks of every editor after each third of their TTL. If the store can, one request renews the
         * locks of many editors.
         *
         * @return this
         */
        public Builder autoRefresh() {
            this.renewal = EditorLockFactory.RenewalPolicy.BY_THE_FACTORY;
            return this;
        }

        /**
         * Creates the locks on the tree.
         *
         * @return locks without editors
         * @throws IllegalArgumentException if the store keeps no state indexes and neither {@link #indexes} nor
         *     {@link #withoutStateRule} was called, or if the TTL is out of range
         */
        public TreeLocks create() {
            if (rule.isPresent() && indexes.isEmpty()) {
                throw new IllegalArgumentException(store.getClass().getSimpleName()
                        + " keeps no state indexes: set their store with indexes(…), or call withoutStateRule()");
            }
            return new TreeLocks(this);
        }
    }
}
