package dev.latchkey.events;

import dev.latchkey.LockListener;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The events of the locks of one factory, for its listeners and the flight recorder. If there is no listener and the recorder
 * is off, an event costs a look.
 */
public final class LockEvents {

    private final EventQueue queue;

    /**
     * Creates the events of a factory.
     *
     * @param listeners who hears of them
     * @param later runs a task soon, on a thread for that, and never two at once
     * @param logger runs what writes the log, on another thread than the one that an event comes from
     */
    public LockEvents(List<LockListener> listeners, Executor later, Executor logger) {
        this.queue = new EventQueue(listeners, later, logger);
    }

    /**
     * Returns whether somebody hears of what happens.
     *
     * @return false if neither listeners nor the flight recorder do
     */
    public boolean isOn() {
        return hasListeners() || FlightRecording.isOn();
    }

    /**
     * Returns whether there are listeners.
     *
     * @return the same at each call
     */
    public boolean hasListeners() {
        return queue.hasListeners();
    }

    /**
     * Begins a call that asks for a lock.
     *
     * @param resource the name of what the lock protects
     * @param mode the mode that is asked for
     * @return what is to be told how it ends
     */
    public AcquireCall acquire(String resource, LockMode mode) {
        return isOn() ? new AcquireCall(queue, resource, mode) : AcquireCall.UNHEARD;
    }

    /**
     * Begins a call to the store.
     *
     * @param operation what the store is asked for
     * @return what is to be told how it ends
     */
    public StoreCall storeCall(Operation operation) {
        return isOn() ? new StoreCall(queue, operation) : StoreCall.UNHEARD;
    }

    /**
     * Tells that a hold begins.
     *
     * @param resource the name of what the lock protects
     * @param mode the mode in which it is held
     * @return what is to be told how it ends
     */
    public HoldRecord hold(String resource, LockMode mode) {
        LockListener.Held event = new LockListener.Held(resource, mode);
        boolean isHeard = queue.add(listener -> listener.held(event));
        return new HoldRecord(queue, isHeard, resource, mode);
    }

    /**
     * Tells that the lease of a hold starts again.
     *
     * @param resource the name of what the lock protects
     * @param slack what was left of the lease
     */
    public void renewed(String resource, Duration slack) {
        if (hasListeners()) {
            LockListener.Renewed event = new LockListener.Renewed(resource, slack);
            boolean unused = queue.add(listener -> listener.renewed(event));
        }
    }
}
