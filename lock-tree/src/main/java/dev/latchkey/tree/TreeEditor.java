package dev.latchkey.tree;

import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.StateIndex;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One editor of a tree, with its locks. {@link TreeLocks#createEditor} creates editors; each object is a separate editor, even
 * for the same tree and in the same process.
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
public interface TreeEditor extends AutoCloseable {

    /**
     * Returns an editor for a tree that is edited without any locks: it sends no requests to a store, never holds
     * anything, and passes every check.
     *
     * @return always the same object
     */
    static TreeEditor none() {
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
     * @throws IllegalStateException if this editor or its {@link TreeLocks} was closed
     */
    void acquire(TreeRequest request);

    /**
     * Acquires everything in a request that is not already held or covered, and the necessary locks above it, or nothing.
     * Tries again, with growing pauses, while other editors hold any of it. Nothing new is held in between, so two
     * editors never wait for each other. There is no order among editors that wait.
     *
     * @param request what to lock
     * @param maxWait how long to try, on the monotonic clock; zero tries once
     * @throws TreeConflictException if other editors still held any of it after {@code maxWait}, or this editor was
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
     * @throws IllegalStateException if this editor or its {@link TreeLocks} was closed
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
     * @throws IllegalStateException if this editor or its {@link TreeLocks} was closed
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
     * @throws IllegalStateException if this editor or its {@link TreeLocks} was closed
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
     * @throws IllegalStateException if this editor or its {@link TreeLocks} was closed
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
     * Adds a listener that is called once when the locks of this editor are lost, under the same conditions as a
     * listener of {@link Lock#onLost}.
     *
     * @param listener receives the reason. It must return soon, because the listeners of all editors of a
     *     {@link TreeLocks} share one thread
     */
    void onLost(Consumer<? super LossReason> listener);

    /**
     * Releases everything that this editor holds, and ends the waits of other threads for it. Other editors are not
     * affected. A failure of the store is logged. Idempotent.
     *
     * @throws LockLostException if the locks were lost and no call has reported it
     */
    @Override
    void close();
}
