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
 * The locks of one editor on one tree. Each object is a separate editor, even for the same tree and in the same process.
 *
 * <p>An editor locks exclusively what it wants to change, and locks shared what must not change. Every ancestor is locked
 * shared automatically. An exclusive hold of an id covers everything below it. An exclusive hold of the root, the
 * <em>schema lock</em>, is therefore possible only if no other editor holds anything, and prevents all of them from
 * locking anything.
 *
 * <p>The application numbers changes: the number of the last change that an editor knows is its index. An editor pulls
 * changes and reports this ({@link #pulled}), locks, changes, pushes its change with a greater number and reports this
 * ({@link #pushed}). From then on, an editor that has not pulled the change cannot lock what this editor had locked. The
 * editor may die at any time after that.
 *
 * <p>If changes can be undone and redone, locks follow with {@link #savepoint}, {@link #rollback} and {@link #reinstate}.
 *
 * <p>All locks of an editor depend on one another and are lost together, with the end of the lease or session if the
 * store has one. The editor then holds nothing, and acquires nothing, until it calls {@link #releaseAll}.
 *
 * <p>Thread-safe.
 */
public interface TreeLocks extends AutoCloseable {

    /**
     * Returns a builder for the locks of a new editor.
     *
     * @param store the store that keeps the holds, which the caller owns. It must have shared locks. A
     *     {@link dev.latchkey.spi.BatchStore} gets one call for each request, other stores get one for each id
     * @param tree the name of the tree, the same for all its editors
     * @param parents returns the current parents of an id: none for a root, null for an unknown id. It may be called for
     *     any id that is locked, requested or checked, and for their ancestors, on any thread, and may take its time. Its
     *     exceptions are thrown by the call that needed it
     * @return a builder
     * @throws IllegalArgumentException if the store has no shared locks, or the name is not 1 to 100 letters, digits,
     *     dots, hyphens or underscores that start with a letter or digit
     */
    static Builder of(PersistingStore store, String tree, Function<String, ? extends Collection<String>> parents) {
        return new Builder(store, tree, parents);
    }

    /**
     * Returns locks for a tree that is edited without any locks: they send no requests to a store, never hold anything,
     * and pass every check.
     *
     * @return always the same object
     */
    static TreeLocks none() {
        return NoTreeLocks.INSTANCE;
    }

    /**
     * Acquires everything in a request that is not already held or covered, and the necessary locks above it, or nothing.
     * Never waits for other editors. If everything is held or covered, no request is sent to the store. A shared hold is
     * promoted if nobody else holds the id; nothing is ever demoted.
     *
     * @param request what to lock
     * @throws TreeConflictException if other editors hold any of it
     * @throws PullRequiredException if this editor does not know the last changes of any of it
     * @throws LockLostException if the locks of this editor were lost; call {@link #releaseAll} before you lock anything
     *     again
     * @throws LockStorageException if the store failed, or did not answer before the lease was over; anything that it may
     *     have granted is given back
     * @throws IllegalArgumentException if an id is unknown, its own ancestor or too long, or the store cannot acquire
     *     these ids in one step
     * @throws IllegalStateException if this object was closed
     */
    void acquire(TreeRequest request);

    /**
     * Acquires everything in a request that is not already held or covered, and the necessary locks above it, or nothing.
     * Tries again, with growing pauses, while other editors hold any of it. Nothing new is held in between, so two
     * editors never wait for each other. There is no order among editors that wait.
     *
     * @param request what to lock
     * @param maxWait how long to try, on the monotonic clock; zero tries once
     * @throws TreeConflictException if other editors still held any of it after {@code maxWait}, or this object was
     *     closed during the wait
     * @throws InterruptedException if the thread was interrupted before or during the call; holds from before the call
     *     stay, and nothing else is held
     * @throws IllegalArgumentException if {@code maxWait} is negative, an id is unknown, its own ancestor or too long, or
     *     the store cannot acquire these ids in one step
     * @throws PullRequiredException if this editor does not know the last changes of any of it; thrown at once
     * @throws LockLostException if the locks of this editor were lost; call {@link #releaseAll} before you lock anything
     *     again
     * @throws LockStorageException if the store failed, or did not answer before the lease was over; anything that it may
     *     have granted is given back
     * @throws IllegalStateException if this object was closed
     */
    void acquire(TreeRequest request, Duration maxWait) throws InterruptedException;

    /**
     * Returns whether an id may be changed, because it is held exclusively or covered by an ancestor that is, without
     * asking the store. If an id has several parents, one of them covers it only while no other editor can reach it
     * through another parent.
     *
     * @param id the id
     * @return true if the id may be changed; also false after the locks were lost
     * @throws IllegalArgumentException if the id or one of its ancestors is unknown or its own ancestor
     */
    boolean holdsExclusive(String id);

    /**
     * Returns whether other editors cannot change an id, because it is held in either mode or covered by an ancestor that
     * is held exclusively, without asking the store. A shared hold of an ancestor is not enough. If an id has several
     * parents, one of them covers it only while no other editor can reach it through another parent.
     *
     * @param id the id
     * @return true if others cannot change the id; also false after the locks were lost
     * @throws IllegalArgumentException if the id or one of its ancestors is unknown or its own ancestor
     */
    boolean holdsShared(String id);

    /**
     * Checks that an id may be changed. With {@link #none()} it always may.
     *
     * @param id the id
     * @throws IllegalArgumentException if the id or one of its ancestors is unknown or its own ancestor
     * @throws IllegalStateException if the id is not held exclusively and not covered
     * @throws LockLostException if the locks were lost
     */
    void checkExclusive(String id);

    /**
     * Checks that something may be added below an id. With {@link #none()} it always may.
     *
     * @param id the id
     * @throws IllegalArgumentException if the id or one of its ancestors is unknown or its own ancestor
     * @throws IllegalStateException if the id is not held and not covered
     * @throws LockLostException if the locks were lost
     */
    void checkShared(String id);

    /**
     * Returns what is held in the store, including ancestors, without covered ids.
     *
     * @return a snapshot of the modes by id; empty after the locks were lost
     */
    Map<String, LockMode> held();

    /**
     * Sets the last change that this editor knows; it also knows all changes before it. The initial value is zero, which
     * means none.
     *
     * @param index the number of the change
     * @throws IllegalArgumentException if {@code index} is negative or greater than {@link StateIndex#MAX}
     */
    void pulled(long index);

    /**
     * Records, for everything that is held, that this editor has pushed a change, and then releases everything. The
     * change is recorded even if the locks were lost in the meantime: it exists, and other editors have to know it.
     *
     * <p>If the number follows directly on the last change that this editor knows, the editor knows the new change, too.
     * Otherwise there may be changes of other editors in between: call {@link #pulled} before you lock what this editor
     * or the others changed.
     *
     * <p>You may call this method before the push if the number is known in advance and the push cannot fail any more,
     * for example in a transaction that is about to be committed. If an editor dies between the push and this call,
     * nothing records the change. Its locks then exclude other editors only for as long as the store keeps the holds of a
     * dead process.
     *
     * @param index the number of the change, greater than that of all earlier changes
     * @throws LockLostException if the locks were lost before this call: another editor may have changed the same ids
     * @throws LockStorageException if the store failed or did not answer; call the method again. If the failure came
     *     after the change was recorded, nothing is held any more, and what the store still keeps ends like the holds of
     *     a dead process
     * @throws IllegalArgumentException if {@code index} is zero, less than the last change that this editor knows, or
     *     greater than {@link StateIndex#MAX}
     */
    void pushed(long index);

    /**
     * Records, for everything that is held, that this editor has pushed a change, as {@link #pushed} does, but keeps all
     * locks.
     *
     * @param index the number of the change, greater than that of all earlier changes
     * @throws LockLostException if the locks were lost before this call: another editor may have changed the same ids
     * @throws LockStorageException if the store failed or did not answer; call the method again
     * @throws IllegalArgumentException if {@code index} is zero, less than the last change that this editor knows, or
     *     greater than {@link StateIndex#MAX}
     */
    void pushedRetaining(long index);

    /**
     * Marks what is held now, for example when a transaction of the application starts. Locks that are acquired
     * afterwards can be released with {@link #rollback} and acquired again with {@link #reinstate}. Sends no request to
     * the store.
     *
     * <p>{@link #pushed}, {@link #pushedRetaining} and {@link #releaseAll} end all savepoints. A new savepoint also ends
     * those that are rolled back: as with undo and redo, the application has done something else instead.
     *
     * @return the savepoint, which only this editor can use
     * @throws LockLostException if the locks were lost
     * @throws IllegalStateException if this object was closed
     */
    TreeSavepoint savepoint();

    /**
     * Releases what was locked since a savepoint, for example after the changes made since then were undone. What was
     * held then stays held, and what was promoted since then is shared again. Later savepoints are rolled back as well.
     * Other editors need not pull anything. Does nothing if the savepoint is rolled back already.
     *
     * @param savepoint the start of what is undone
     * @throws IllegalArgumentException if the savepoint has ended, or belongs to another editor; nothing was changed
     * @throws LockLostException if the locks were lost
     * @throws LockStorageException if the store failed or did not answer; the savepoint is rolled back nevertheless, and
     *     what the store still keeps ends like the holds of a dead process
     * @throws IllegalStateException if this object was closed
     */
    void rollback(TreeSavepoint savepoint);

    /**
     * Acquires again what was locked between a rolled-back savepoint and the next one, before those changes are redone.
     * It also acquires what belongs to earlier savepoints that are rolled back, and the present ancestors. It acquires
     * everything or nothing, and never waits. Does nothing if the savepoint is not rolled back.
     *
     * @param savepoint the start of the last part that is redone
     * @throws TreeConflictException if other editors hold any of it; the savepoint stays rolled back
     * @throws PullRequiredException if other editors have changed any of it
     * @throws IllegalArgumentException if the savepoint has ended or belongs to another editor, if an id is unknown, its
     *     own ancestor or too long, or if the store cannot acquire these ids in one step; nothing was changed
     * @throws LockLostException if the locks were lost
     * @throws LockStorageException if the store failed, or did not answer before the lease was over; anything that it may
     *     have granted is given back
     * @throws IllegalStateException if this object was closed
     */
    void reinstate(TreeSavepoint savepoint);

    /**
     * Releases everything. Without a {@link #pushed} before it, this abandons the changes: other editors need not pull
     * anything. After a loss, the editor can acquire locks again.
     *
     * @throws LockStorageException if the store failed or did not answer; the editor then holds nothing, and what the
     *     store still keeps ends like the holds of a dead process
     */
    void releaseAll();

    /**
     * Starts the TTL of all locks again. On a store without leases, it checks whether they are still held. Does nothing
     * while nothing is held.
     *
     * @throws LockLostException if anything was no longer held; everything is lost then
     * @throws LockStorageException if the store failed or did not answer; nothing is held for longer than before
     */
    void refresh();

    /**
     * Adds a listener that is called once when the locks are lost, under the same conditions as a listener of
     * {@link Lock#onLost}.
     *
     * @param listener receives the reason
     */
    void onLost(Consumer<? super LossReason> listener);

    /**
     * Releases everything, and ends the waits of other threads. A failure of the store is logged. Idempotent.
     *
     * @throws LockLostException if the locks were lost and no call has reported it
     */
    @Override
    void close();

    /** Creates the locks of an editor. Not thread-safe. */
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
            this.parents = Objects.requireNonNull(parents, "parents");
            this.indexes = store.capability(IndexStore.class);
        }

        /**
         * Keeps state indexes in another place than the store of the locks. They are then checked after a grant, which is
         * given back if this editor does not know enough.
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
         * Sets which ids only this editor knows, because it has created them and not pushed them yet. They need no lock:
         * they count as held exclusively, and are never sent to the store. Their parents must be held as usual when
         * something is added below the parents. By default, no id is new.
         *
         * @param isNew returns whether an id is new; it is called under the same conditions as the function that returns
         *     the parents. If ids are increasing, it can compare an id with the greatest one of the last push
         * @return this
         */
        public Builder newIds(Predicate<String> isNew) {
            this.isNew = Objects.requireNonNull(isNew, "isNew");
            return this;
        }

        /**
         * Sets the time after which the store ends the locks if they are not refreshed. The default is 300 s. Stores
         * without leases ignore it.
         *
         * @param newTtl from 3 ms to 100 years, within the limits of the store; checked by {@link #create}
         * @return this
         */
        public Builder ttl(Duration newTtl) {
            this.ttl = newTtl;
            return this;
        }

        /**
         * Makes the locks refresh themselves after each third of their TTL, in one request if the store supports it.
         *
         * @return this
         */
        public Builder autoRefresh() {
            this.renewal = Renewal.BY_ITSELF;
            return this;
        }

        /**
         * Adds a listener that is called once when the locks are lost.
         *
         * @param listener receives the reason
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
         * Creates the locks of one editor. Each call creates another editor.
         *
         * @return locks that hold nothing yet
         * @throws IllegalArgumentException if the store keeps no state indexes and neither {@link #indexes} nor
         *     {@link #withoutStateRule} was called, or if the TTL is out of range
         */
        public TreeLocks create() {
            if (rule.isPresent() && indexes.isEmpty()) {
                throw new IllegalArgumentException(store.getClass().getSimpleName()
                        + " keeps no state indexes: set their store with indexes(…), or call withoutStateRule()");
            }
            BatchRequests exchange =
                    new BatchRequests(store, rule.flatMap(on -> indexes), rule.orElse(StateRule.BOTH_INDEXES));
            return new EditorSession(tree, new Ancestors.Tree(parents, isNew), store, exchange, this);
        }
    }
}
