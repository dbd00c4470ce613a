package dev.latchkey.chaos;

import dev.latchkey.chaos.History.Access;
import dev.latchkey.chaos.History.Wait;
import java.util.Locale;

/** Shows events to people, with times in seconds since the first of all. */
record Times(long origin) {

    static Times of(History history) {
        return new Times(history.waits().stream().mapToLong(Wait::asked).min().orElse(0));
    }

    private String seconds(long time) {
        return time == Hold.NEVER ? "never" : String.format(Locale.ROOT, "%.6f", (time - origin) / 1e9);
    }

    String show(Belief belief) {
        Hold hold = belief.hold();
        return "%s holds %s %s, token %s, asked %s, granted %s, until %s%s"
                .formatted(
                        hold.id(),
                        hold.resource(),
                        hold.isExclusive() ? "exclusively" : "shared",
                        hold.token().isPresent() ? hold.token().getAsLong() : EventLog.NONE,
                        seconds(hold.asked()),
                        seconds(hold.granted()),
                        seconds(belief.end()),
                        belief.cut() ? " (a fault)" : "");
    }

    String show(Wait wait) {
        return "%s for %s %s from %s to %s, %s"
                .formatted(
                        wait.actor(),
                        wait.resource(),
                        wait.mode(),
                        seconds(wait.asked()),
                        seconds(wait.end()),
                        wait.outcome());
    }

    String show(Access access) {
        return "%s %s %s at %s, token %s: %s; read %d, found %d"
                .formatted(
                        access.hold(),
                        access.verb(),
                        access.resource(),
                        seconds(access.at()),
                        access.token().isPresent() ? access.token().getAsLong() : EventLog.NONE,
                        access.accepted() ? Register.ACCEPTED : Register.REFUSED,
                        access.base(),
                        access.found());
    }
}
