package dev.latchkey.events;

import dev.latchkey.LossReason;
import java.time.Duration;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** A hold that ended without a release, on the thread that noticed it. */
@Name("dev.latchkey.Loss")
@Label("Lock Loss")
@Description("The hold of a distributed lock has ended without a release")
@Category("Latchkey")
@StackTrace(false)
final class LossEvent extends Event {

    private static final LossEvent ANY = new LossEvent();

    @Label("Resource")
    String resource = "";

    @Label("Reason")
    String reason = "";

    @Label("Held")
    @Timespan
    long held;

    static boolean isOn() {
        return ANY.isEnabled();
    }

    static void happened(String resource, LossReason reason, Duration held) {
        LossEvent event = new LossEvent();
        event.resource = resource;
        event.reason = reason.name();
        event.held = held.toNanos();
        event.commit();
    }
}
