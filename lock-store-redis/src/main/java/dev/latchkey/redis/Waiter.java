package dev.latchkey.redis;

/** One wait, as the {@link WaiterRegistry} that passes messages on to it knows it. */
interface Waiter {

    /** The name that messages call it by. */
    String attempt();

    String resource();

    String token();

    boolean isGranted();

    /** Whether it was granted from the queue. Others may then wait behind it. */
    boolean isGrantedInTurn();

    /** Called from any thread, as the methods below it until {@link #fail}: the server has granted the lock to this waiter. */
    void granted(Grant grant);

    /**
     * The reply to a release of this store says that the server has granted the lock to this waiter.
     *
     * @param position the place that it had then, if it had none before
     */
    void granted(Grant grant, QueuePosition position);

    /** The reply to a release of this store says that it has put this waiter into the queue on the server. */
    void queued(QueuePosition position, long millisToLeaseEnd);

    /** Something may have changed, or a message may have been missed. */
    void askAgain();

    /** No release takes this waiter along: it has to ask, unless it has done so. */
    void leaveHome();

    /** The store is closed. */
    void fail();

    /**
     * Leaves nothing on the server: uninterruptibly, but not for longer than the command timeout, or twice that if a release takes
     * it along.
     */
    void leave();

    /** Gives back what was granted after the wait had ended. Does not wait. */
    void giveBack();
}
