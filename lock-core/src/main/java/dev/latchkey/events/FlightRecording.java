package dev.latchkey.events;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The events of the JDK Flight Recorder. A JVM may be without its module: the classes that need it are used as
 * {@link RecordedEvent}s, and are not loaded then.
 */
final class FlightRecording {

    private static final boolean IS_THERE =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecording() {}

    /** Whether one of the events is recorded now. */
    static boolean isOn() {
        return IS_THERE && (AcquireEvent.isOn() || HoldEvent.isOn() || LossEvent.isOn() || StoreCallEvent.isOn());
    }

    static RecordedEvent.@Nullable Acquire acquire() {
        return IS_THERE && AcquireEvent.isOn() ? AcquireEvent.begun() : null;
    }

    static RecordedEvent.@Nullable Hold hold(String resource, LockMode mode) {
        return IS_THERE && HoldEvent.isOn() ? HoldEvent.begun(resource, mode) : null;
    }

    static RecordedEvent.@Nullable Call storeCall() {
        return IS_THERE && StoreCallEvent.isOn() ? StoreCallEvent.begun() : null;
    }

    static void lost(String resource, LossReason reason, Duration held) {
        if (IS_THERE && LossEvent.isOn()) {
            LossEvent.happened(resource, reason, held);
        }
    }
}
