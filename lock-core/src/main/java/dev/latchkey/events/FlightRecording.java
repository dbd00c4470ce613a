package dev.latchkey.events;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import java.time.Duration;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The events of the JDK Flight Recorder. A JVM may be without its module: the classes that need it are used as
 * {@link RecordedEvent}s, and are not loaded then.
 */
final class FlightRecording {

    private static final boolean IS_THERE =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecording() {}

    /** Until the recorder is first used in this JVM, no class of an event is loaded, which takes time. */
    private static boolean mayRecord() {
        return IS_THERE && FlightRecorder.isInitialized();
    }

    /** Whether one of the events is recorded now. */
    static boolean isOn() {
        return mayRecord() && (AcquireEvent.isOn() || HoldEvent.isOn() || LossEvent.isOn() || StoreCallEvent.isOn());
    }

    static RecordedEvent.@Nullable Acquire acquire() {
        return mayRecord() && AcquireEvent.isOn() ? AcquireEvent.begun() : null;
    }

    static RecordedEvent.@Nullable Hold hold(String resource, LockMode mode) {
        return mayRecord() && HoldEvent.isOn() ? HoldEvent.begun(resource, mode) : null;
    }

    static RecordedEvent.@Nullable Call storeCall() {
        return mayRecord() && StoreCallEvent.isOn() ? StoreCallEvent.begun() : null;
    }

    static void lost(String resource, LossReason reason, Duration held) {
        if (mayRecord() && LossEvent.isOn()) {
            LossEvent.happened(resource, reason, held);
        }
    }
}
