package dev.latchkey.events;

import dev.latchkey.LockListener;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.LockListener.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One call to the store, for a try-with-resources: it has failed unless it was {@link #answered}. */
public final class StoreCall implements AutoCloseable {

    static final StoreCall UNHEARD = new StoreCall();

    private final @Nullable EventQueue events;
    private final Operation operation;
    private final long startNanos;
    private final RecordedEvent.@Nullable Call recorded;
    private Outcome outcome = Outcome.FAILED;

    private StoreCall() {
        this.events = null;
        this.operation = Operation.FIND;
        this.startNanos = 0;
        this.recorded = null;
    }

    StoreCall(EventQueue events, Operation operation) {
        this.events = events;
        this.operation = operation;
        this.startNanos = System.nanoTime();
        this.recorded = FlightRecording.storeCall();
    }

    /**
     * The store has answered.
     *
     * @param answer the answer
     * @return the answer
     * @param <T> its type
     */
    public <T> T answered(T answer) {
        if (events != null) {
            outcome = Outcome.ANSWERED;
        }
        return answer;
    }

    /** The caller was interrupted, which is no failure of the store. */
    public void interrupted() {
        if (events != null) {
            outcome = Outcome.INTERRUPTED;
        }
    }

    /** The call has ended. */
    @Override
    public void close() {
        if (events == null) {
            return;
        }
        long nanos = System.nanoTime() - startNanos;
        if (recorded != null) {
            recorded.end(operation.name(), outcome.name());
        }
        LockListener.StoreCalled event = new LockListener.StoreCalled(operation, outcome, Duration.ofNanos(nanos));
        boolean unused = events.add(listener -> listener.storeCalled(event));
    }
}
