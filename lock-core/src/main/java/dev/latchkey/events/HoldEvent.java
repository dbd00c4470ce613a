package dev.latchkey.events;

import dev.latchkey.LockMode;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** One hold, from its grant to its end, on the thread that ended it. */
@Name("dev.latchkey.Hold")
@Label("Lock Hold")
@Description("A distributed lock was held, from the grant to the release or the loss")
@Category("Latchkey")
@StackTrace(false)
final class HoldEvent extends Event implements RecordedEvent.Hold {

    private static final HoldEvent ANY = new HoldEvent();

    @Label("Resource")
    String resource = "";

    @Label("Mode")
    @Description("The mode in which it was granted")
    String mode = "";

    @Label("End")
    @Description("RELEASED, RELEASE_FAILED, TRANSFERRED, LEFT, or the reason of a loss")
    String ending = "";

    static boolean isOn() {
        return ANY.isEnabled();
    }

    static RecordedEvent.Hold begun(String resource, LockMode mode) {
        HoldEvent event = new HoldEvent();
        event.begin();
        event.resource = resource;
        event.mode = mode.name();
        return event;
    }

    @Override
    public void end(String how) {
        end();
        ending = how;
        commit();
    }
}
