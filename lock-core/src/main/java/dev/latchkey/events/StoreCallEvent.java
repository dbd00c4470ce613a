package dev.latchkey.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** One call to the store, on the thread of the call. */
@Name("dev.latchkey.StoreCall")
@Label("Lock Store Call")
@Description("A call to the store of distributed locks")
@Category("Latchkey")
@StackTrace(false)
final class StoreCallEvent extends Event implements RecordedEvent.Call {

    private static final StoreCallEvent ANY = new StoreCallEvent();

    @Label("Operation")
    String operation = "";

    @Label("Outcome")
    String outcome = "";

    static boolean isOn() {
        return ANY.isEnabled();
    }

    static RecordedEvent.Call begun() {
        StoreCallEvent event = new StoreCallEvent();
        event.begin();
        return event;
    }

    @Override
    public void end(String asked, String answer) {
        end();
        operation = asked;
        outcome = answer;
        commit();
    }
}
