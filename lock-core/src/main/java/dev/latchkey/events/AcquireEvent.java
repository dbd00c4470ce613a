package dev.latchkey.events;

import dev.latchkey.LockMode;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** One call that asks for a lock, on the thread of the call. */
@Name("dev.latchkey.Acquire")
@Label("Lock Acquire")
@Description("A call that asks for a distributed lock")
@Category("Latchkey")
@StackTrace
final class AcquireEvent extends Event implements RecordedEvent.Acquire {

    private static final AcquireEvent ANY = new AcquireEvent();

    @Label("Resource")
    String resource = "";

    @Label("Mode")
    String mode = "";

    @Label("Waited")
    @Timespan
    long waited;

    @Label("Outcome")
    @Description("acquired, conflicted, failed or interrupted")
    String outcome = "";

    static boolean isOn() {
        return ANY.isEnabled();
    }

    static RecordedEvent.Acquire begun() {
        AcquireEvent event = new AcquireEvent();
        event.begin();
        return event;
    }

    @Override
    public void end(String asked, LockMode shown, long waitedNanos, String ending) {
        end();
        resource = asked;
        mode = shown.name();
        waited = waitedNanos;
        outcome = ending;
        commit();
    }
}
