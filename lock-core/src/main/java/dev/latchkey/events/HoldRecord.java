package dev.latchkey.events;

import dev.latchkey.LockListener;
import dev.latchkey.LockListener.End;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What is told of one hold, from its begin to its end. */
public final class HoldRecord {

    private final EventQueue events;
    private final boolean isBeginHeard;
    private final String resource;
    private final RecordedEvent.@Nullable Hold recorded;

    HoldRecord(EventQueue events, boolean isBeginHeard, String resource, LockMode mode) {
        this.events = events;
        this.isBeginHeard = isBeginHeard;
        this.resource = resource;
        this.recorded = FlightRecording.hold(resource, mode);
    }

    /**
     * It is given up.
     *
     * @param end how
     * @param held how long it was held
     */
    public void released(End end, Duration held) {
        ends(end.name());
        LockListener.Released event = new LockListener.Released(resource, end, held);
        events.addEnd(isBeginHeard, listener -> listener.released(event));
    }

    /**
     * It is lost.
     *
     * @param reason why
     * @param held how long it was held
     */
    public void lost(LossReason reason, Duration held) {
        ends(reason.name());
        FlightRecording.lost(resource, reason, held);
        LockListener.Lost event = new LockListener.Lost(resource, reason, held);
        events.addEnd(isBeginHeard, listener -> listener.lost(event));
    }

    private void ends(String end) {
        if (recorded != null) {
            recorded.end(end);
        }
    }
}
