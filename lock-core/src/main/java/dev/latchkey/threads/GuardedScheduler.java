package dev.latchkey.threads;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * One thread for what is to happen later. Only one at a time asks it for something, or cancels that, in its monitor: the guard of
 * the JDK's queue is taken by some who are in {@code synchronized}, and by others who are not. Before Java 24, a virtual thread of
 * the former waits on its carrier, and one of the latter without: if it is next, and all carriers are kept by those behind it,
 * nobody ever goes on. In the monitor, all wait on their carriers. What is done in it takes only guards of the JDK.
 */
final class GuardedScheduler extends ScheduledThreadPoolExecutor {

    GuardedScheduler(ThreadFactory threads) {
        super(1, threads, new ThreadPoolExecutor.DiscardPolicy());
        setRemoveOnCancelPolicy(true);
    }

    @Override
    public synchronized boolean prestartCoreThread() {
        return super.prestartCoreThread();
    }

    /** Also called by {@code execute}. */
    @Override
    public synchronized ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return super.schedule(task, delay, unit);
    }

    /** Called by what cancels a task. */
    @Override
    public synchronized boolean remove(Runnable task) {
        return super.remove(task);
    }
}
