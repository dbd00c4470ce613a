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

    /** Called from any thread, as the two methods below it: the server has granted the lock to this waiter. */
    void granted(Grant grant);

    /** Something may have changed, or a message may have been missed. */
    void askAgain();

    /** The store is closed. */
    void fail();

    /** Leaves nothing on the server: uninterruptibly, but not for longer than the command timeout. */
    void leave();

    /** Gives back what was granted after the wait had ended. Does not wait. */
    void giveBack();
}
