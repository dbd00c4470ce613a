package dev.latchkey.tree;

import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.IndexStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StateRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The locks of one editor on one tree. Two objects for the same tree are two editors, in one process as across continents.
 *
 * <p>An editor locks what it wants to change exclusively, and what it wants to keep from changing shared; every ancestor is
 * shared by itself. To hold an id exclusively is to hold everything below it. To hold the root exclusively, the
 * <em>schema lock</em>, therefore needs that no other editor holds anything, and keeps all of them from locking anything.
 *
 * <p>Changes are numbered by the application: the number of the last one an editor knows is its index. An editor pulls
 * changes and says so ({@link #pulled}), locks, changes, pushes its change with a greater number and says so
 * ({@link #pushed}). From then on nobody can lock what it had locked who has not pulled that change. An editor may die at any
 * time after that.
 *
 * <p>Where changes can be undone and redone, locks follow with {@link #savepoint}, {@link #rollback} and {@link #reinstate}.
 *
 * <p>All an editor's locks depend on each other and are lost together: with the end of the lease or session, wherever the
 * store has one. The editor then holds nothing, and takes nothing, until it calls {@link #releaseAll}.
 *
 * <p>Thread-safe.
 */
public interface TreeLocks extends AutoCloseable {

    /**
     * Begins the locks of a new editor.
     *
     * @param store where holds are kept; stays the caller's. It must be able to share. One that takes many at once
     *     ({@link dev.latchkey.spi.BatchStore}) is asked once for each request, others once for each id
     * @param tree what the tree is called: the same for all its editors
     * @param parents the parents of an id now; none for a root, null for an id it does not know. May be asked for any id that is
     *     locked, asked for or checked, or one of their ancestors, by any thread, and may take its time; what it throws comes
     *     out of the call that asked
     * @return a builder
     * @throws IllegalArgumentException if the store cannot share, or the name is not 1 to 100 letters, digits, dots, hyphens
     *     or underscores, beginning with a letter or digit
     */
    static Builder of(PersistingStore store, String tree, Function<String, ? extends Collection<String>> parents) {
        return new Builder(store, tree, parents);
    }

    /**
     * Returns the locks of a tree that is edited without any: nothing is asked of any store, nothing is ever held, and every
     * check passes.
     *
     * @return always the same
     */
    static TreeLocks none() {
        return NoTreeLocks.INSTANCE;
    }

    /**
     * Takes all of a request that is not held or covered already, with what it needs above, or nothing. Never waits for other
     * editors. Asks nothing of the store if there is nothing to take. What is held shared is promoted if nobody else holds
     * it; nothing is ever demoted.
     *
     * @param request what to lock
     * @throws TreeConflictException if others hold any of it
     * @throws PullRequiredException if this editor does not know the last changes of any of it
     * @throws LockLostException if what this editor held was lost; call {@link #releaseAll} before locking anything again
     * @throws LockStorageException if the store failed, or did not answer before the lease was over; what it may have granted is
     *     given back
     * @throws IllegalArgumentException if an id is unknown, its own ancestor or too long, or the store cannot take these ids in
     *     one step
     * @throws IllegalStateException if this was closed
     */
    void acquire(TreeRequest request);

    /**
     * As {@link #acquire(TreeRequest)}, but asks again, with growing pauses, while others hold any of it. Nothing is held in
     * between, so that two editors never wait for each other; nobody is served in turn.
     *
     * @param request what to lock
     * @param maxWait how long to ask again, on the monotonic clock; zero tries once
     * @throws TreeConflictException if others still held any of it after that, or this was closed meanwhile
     * @throws InterruptedException if the thread was interrupted, before the call or in it; what was held is held still, and
     *     nothing else
     * @throws IllegalArgumentException if {@code maxWait} is negative, or as {@link #acquire(TreeRequest)}
     * @throws PullRequiredException as {@link #acquire(TreeRequest)}, at once
     * @throws LockLostException as {@link #acquire(TreeRequest)}
     * @throws LockStorageException as {@link #acquire(TreeRequest)}
     * @throws IllegalStateException as {@link #acquire(TreeRequest)}
     */
    void acquire(TreeRequest request, Duration maxWait) throws InterruptedException;

    /**
     * Tells, without asking the store, whether an id may be changed: it is held exclusively, or covered by an ancestor that
     * is. Where an id has several parents, one of them covers it only while no other editor can reach it through another.
     *
     * @param id of what
     * @return false also once the locks were lost
     * @throws IllegalArgumentException if the id or one above it is unknown, or its own ancestor
     */
    boolean holdsExclusive(String id);

    /**
     * Tells, without asking the store, whether an id is kept from being changed by others: it is held in either mode, or
     * covered as {@link #holdsExclusive}. That an ancestor is shared is not enough.
     *
     * @param id of what
     * @return false also once the locks were lost
     * @throws IllegalArgumentException as {@link #holdsExclusive}
     */
    boolean holdsShared(String id);

    /**
     * Makes sure that an id may be changed. With {@link #none()} it always may.
     *
     * @param id of what
     * @throws IllegalArgumentException as {@link #holdsExclusive}
     * @throws IllegalStateException if it is not held exclusively and not covered
     * @throws LockLostException if the locks were lost
     */
    void checkExclusive(String id);

    /**
     * Makes sure that something may be added below an id. With {@link #none()} it always may.
     *
     * @param id of what
     * @throws IllegalArgumentException as {@link #holdsExclusive}
     * @throws IllegalStateException if it is not held and not covered
     * @throws LockLostException if the locks were lost
     */
    void checkShared(String id);

    /**
     * Returns what is held in the store, ancestors included, covered ids not.
     *
     * @return a snapshot: how, by id; empty once the locks were lost
     */
    Map<String, LockMode> held();

    /**
     * Says which change this editor knows, with all before it. Zero, none, at first.
     *
     * @param index its number
     * @throws IllegalArgumentException if it is negative or greater than {@link StateIndex#MAX}
     */
    void pulled(long index);

    /**
     * Records for all that is held that this editor has pushed a change, and then gives it all up. Recorded also when the
     * locks were lost meanwhile: the change is there, and others have to know it.
     *
     * <p>If the number is the next after what this editor knows, it is known from now on. Else others may have made changes
     * between, and {@link #pulled} has to be called before what this one or those changed can be locked.
     *
     * <p>May be called before the push where the number is known in advance and the push cannot fail any more, for instance in
     * a transaction about to be committed. Between a push and this call an editor may die without leaving a trace; its locks
     * then keep the others out for as long as the store keeps the holds of the dead, and no longer.
     *
     * @param index the number of the change, greater than that of all before it
     * @throws LockLostException if the locks were lost before this call: somebody else may have changed the same
     * @throws LockStorageException if the store failed or did not answer; call it again. If the failure came after recording,
     *     nothing is held any more, and what the store still has ends as the holds of the dead do
     * @throws IllegalArgumentException if the number is less than what this editor knows, zero, or greater than
     *     {@link StateIndex#MAX}
     */
    void pushed(long index);

    /**
     * As {@link #pushed}, but keeps all locks.
     *
     * @param index as {@link #pushed}
     * @throws LockLostException as {@link #pushed}
     * @throws LockStorageException if the store failed or did not answer; call it again
     * @throws IllegalArgumentException as {@link #pushed}
     */
    void pushedRetaining(long index);

    /**
     * Marks what is held now, as a transaction of the application begins: what is locked after it can be given up by itself
     * with {@link #rollback}, and taken again with {@link #reinstate}. Asks nothing of the store.
     *
     * <p>All savepoints are over with {@link #pushed}, {@link #pushedRetaining} and {@link #releaseAll}. A new one also ends
     * those that are rolled back: as with undo and redo, something else has been done instead.
     *
     * @return the savepoint, of use to this editor alone
     * @throws LockLostException if the locks were lost
     * @throws IllegalStateException if this was closed
     */
    TreeSavepoint savepoint();

    /**
     * Gives up what was locked since a savepoint, when the changes made since are undone. What was held then is held still,
     * and what was promoted since is shared again. Later savepoints are rolled back with it. As with {@link #releaseAll}
     * others need not pull anything. Does nothing if the savepoint is rolled back already.
     *
     * @param savepoint the beginning of what is undone
     * @throws IllegalArgumentException if the savepoint is over, or of another editor; nothing was changed
     * @throws LockLostException if the locks were lost
     * @throws LockStorageException if the store failed or did not answer; it is rolled back nevertheless, and what the store
     *     still has of it ends as the holds of the dead do
     * @throws IllegalStateException if this was closed
     */
    void rollback(TreeSavepoint savepoint);

    /**
     * Takes again what was locked from a rolled-back savepoint on, up to the next one, when those changes are made again;
     * together with what belongs to rolled-back savepoints before it, and with what is above it now. All or nothing, and as
     * {@link #acquire(TreeRequest)} never waiting. Does nothing if the savepoint is not rolled back.
     *
     * @param savepoint the beginning of the last of what is done again
     * @throws TreeConflictException if others hold any of it; it is rolled back still
     * @throws PullRequiredException if others have changed any of it
     * @throws IllegalArgumentException if the savepoint is over, or of another editor, or as {@link #acquire(TreeRequest)};
     *     nothing was changed
     * @throws LockLostException if the locks were lost
     * @throws LockStorageException as {@link #acquire(TreeRequest)}
     * @throws IllegalStateException if this was closed
     */
    void reinstate(TreeSavepoint savepoint);

    /**
     * Gives up everything. Without {@link #pushed} before it this abandons the changes: others need not pull anything. A loss
     * is over with it, and new locks can be taken.
     *
     * @throws LockStorageException if the store failed or did not answer; nothing is held then, and what the store still has
     *     ends as the holds of the dead do
     */
    void releaseAll();

    /**
     * Starts the TTL of everything again; where holds do not expire, asks whether it is still held. Does nothing while nothing
     * is held.
     *
     * @throws LockLostException if something was no longer held; all is lost then
     * @throws LockStorageException if the store failed or did not answer; nothing is held longer than before
     */
    void refresh();

    /**
     * Has a listener called when the locks are lost, as {@link Lock#onLost}: once for all of them.
     *
     * @param listener told why
     */
    void onLost(Consumer<? super LossReason> listener);

    /**
     * Gives up everything, and ends the waits of other threads. A failing store is logged. Idempotent.
     *
     * @throws LockLostException if the locks had been lost and no call has said so
     */
    @Override
    void close();

    /** Makes the locks of an editor. Not thread-safe. */
    final class Builder {

        private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

        private final PersistingStore store;
        private final String tree;
        private final Function<String, ? extends Collection<String>> parents;
        private final List<Consumer<? super LossReason>> listeners = new ArrayList<>();
        private Predicate<String> isNew = id -> false;
        private Optional<IndexStore> indexes;
        private Optional<StateRule> rule = Optional.of(StateRule.BOTH_INDEXES);
        private Duration ttl = Duration.ofMinutes(5);
        private Renewal renewal = Renewal.BY_THE_EDITOR;

        /** Who refreshes leases before they run out. */
        enum Renewal {
            BY_THE_EDITOR,
            BY_ITSELF
        }

        private Builder(PersistingStore store, String tree, Function<String, ? extends Collection<String>> parents) {
            if (store.capability(SharedStore.class).isEmpty()) {
                throw new IllegalArgumentException("locks on a tree need a store that shares: with "
                        + store.getClass().getSimpleName() + " two editors could never hold locks of one tree");
            }
            if (!NAME.matcher(tree).matches()) {
                throw new IllegalArgumentException(
                        "tree name " + IdText.id(tree)
                                + ": must be 1 to 100 letters, digits, dots, hyphens or underscores, beginning with a letter or digit");
            }
            this.store = store;
            this.tree = tree;
            this.parents = Objects.requireNonNull(parents, "parents");
            this.indexes = store.capability(IndexStore.class);
        }

        /**
         * Keeps state indexes elsewhere than in the store of the locks. They are then looked at after a grant, which is given
         * back if this editor does not know enough.
         *
         * @param other where; stays the caller's
         * @return this
         */
        public Builder indexes(IndexStore other) {
            this.indexes = Optional.of(other);
            return this;
        }

        /**
         * Chooses which changes have to be known; {@link StateRule#BOTH_INDEXES} unless set. The same for all editors of a tree.
         *
         * @param chosen which
         * @return this
         */
        public Builder stateRule(StateRule chosen) {
            this.rule = Optional.of(chosen);
            return this;
        }

        /**
         * Keeps no state indexes: whoever gets a lock may change what it protects without knowing the last changes.
         *
         * @return this
         */
        public Builder withoutStateRule() {
            this.rule = Optional.empty();
            return this;
        }

        /**
         * Says which ids are known to this editor alone, since it has made them and not pushed them yet. They need no lock:
         * they count as held exclusively, and the store never hears of them. Their parents have to be held when something
         * is added below them, as ever. No id is, unless this was said.
         *
         * @param isNew asked as the parents are; for ids that grow, for instance, whether one is above the greatest of the
         *     last push
         * @return this
         */
        public Builder newIds(Predicate<String> isNew) {
            this.isNew = Objects.requireNonNull(isNew, "isNew");
            return this;
        }

        /**
         * Sets after what time the store ends the locks by itself if they are not refreshed, 300 s unless set; ignored where
         * holds do not expire.
         *
         * @param newTtl as {@link dev.latchkey.LockBuilder#ttl}; checked by {@link #create}
         * @return this
         */
        public Builder ttl(Duration newTtl) {
            this.ttl = newTtl;
            return this;
        }

        /**
         * Has the locks refreshed at every third of their TTL, all in one request where the store can do it.
         *
         * @return this
         */
        public Builder autoRefresh() {
            this.renewal = Renewal.BY_ITSELF;
            return this;
        }

        /**
         * Has a listener called when the locks are lost.
         *
         * @param listener as {@link TreeLocks#onLost}
         * @return this
         */
        public Builder onLost(Consumer<? super LossReason> listener) {
            listeners.add(Objects.requireNonNull(listener, "listener"));
            return this;
        }

        Duration ttl() {
            return ttl;
        }

        List<Consumer<? super LossReason>> listeners() {
            return listeners;
        }

        Renewal renewal() {
            return renewal;
        }

        /**
         * Makes the locks of one editor; each call, of another.
         *
         * @return locks that hold nothing yet
         * @throws IllegalArgumentException if the store keeps no state indexes and neither {@link #indexes} nor
         *     {@link #withoutStateRule} was said, or the TTL is out of range
         */
        public TreeLocks create() {
            if (rule.isPresent() && indexes.isEmpty()) {
                throw new IllegalArgumentException(store.getClass().getSimpleName()
                        + " keeps no state indexes: say where they are kept with indexes(…), or withoutStateRule()");
            }
            BatchRequests exchange =
                    new BatchRequests(store, rule.flatMap(on -> indexes), rule.orElse(StateRule.BOTH_INDEXES));
            return new EditorSession(tree, new Ancestors.Tree(parents, isNew), store, exchange, this);
        }
    }
}
