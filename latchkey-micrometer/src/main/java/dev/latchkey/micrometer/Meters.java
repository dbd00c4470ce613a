package dev.latchkey.micrometer;

import dev.latchkey.LockListener;
import dev.latchkey.LossReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The meters of one store, each looked up in the registry once. */
final class Meters {

    /**
     * What the gauges of a registry show: a gauge is registered once, and is to show what all factories hold, also after the one
     * that was there first is closed.
     */
    private static final Map<MeterRegistry, ConcurrentMap<Tags, Group>> GROUPS =
            Collections.synchronizedMap(new WeakHashMap<>());

    private final MeterRegistry registry;
    private final Tags tags;
    private final ConcurrentMap<Tags, Group> groupsOfRegistry;

    /** The same by their names, and the timers by their tags: several are looked up in each cycle of a lock. */
    private final ConcurrentMap<String, Group> groups = new ConcurrentHashMap<>();

    private final ConcurrentMap<TimerId, Timer> timers = new ConcurrentHashMap<>();
    private final Counter dropped;

    Meters(MeterRegistry registry, String store) {
        this.registry = registry;
        this.tags = Tags.of("store", store);
        this.groupsOfRegistry = GROUPS.computeIfAbsent(registry, any -> new ConcurrentHashMap<>());
        this.dropped = Counter.builder("latchkey.events.dropped")
                .description("Events that were not counted, because a listener did not return")
                .tags(tags)
                .register(registry);
        // A rate and an increase are of what was seen before: a series that begins with its first failure shows none.
        for (LockListener.Operation operation : LockListener.Operation.values()) {
            Timer unused = storeCall(text(operation), text(LockListener.Outcome.FAILED));
        }
    }

    static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** What the locks of one group do now. */
    record Group(String name, AtomicInteger held, AtomicInteger waiting) {}

    /** A timer: its name, and the values of its tags beside the store. */
    private record TimerId(String name, String first, String second, String third) {}

    Group group(String name) {
        Group known = groups.get(name);
        return known != null ? known : groups.computeIfAbsent(name, this::ofRegistry);
    }

    private Group ofRegistry(String name) {
        return groupsOfRegistry.computeIfAbsent(tags.and("group", name), id -> registered(name));
    }

    private Group registered(String name) {
        for (LossReason reason : LossReason.values()) {
            Timer unused = hold(name, text(reason));
        }
        Group group = new Group(name, new AtomicInteger(), new AtomicInteger());
        Gauge.builder("latchkey.held", group.held(), AtomicInteger::get)
                .description("Locks that are held")
                .tags(tags.and("group", name))
                .register(registry);
        Gauge.builder("latchkey.waiting", group.waiting(), AtomicInteger::get)
                .description("Calls that ask for a lock, and have not got it yet")
                .tags(tags.and("group", name))
                .register(registry);
        return group;
    }

    Counter dropped() {
        return dropped;
    }

    Timer acquire(String group, String mode, String outcome) {
        TimerId id = new TimerId("latchkey.acquire", group, mode, outcome);
        return timer(id, "How long calls that ask for a lock take", "group", group, "mode", mode, "outcome", outcome);
    }

    Timer hold(String group, String end) {
        TimerId id = new TimerId("latchkey.hold", group, end, "");
        return timer(id, "How long locks are held", "group", group, "end", end);
    }

    Timer slack(String group) {
        TimerId id = new TimerId("latchkey.lease.slack", group, "", "");
        return timer(id, "What is left of a lease when it is renewed", "group", group);
    }

    Timer storeCall(String operation, String outcome) {
        TimerId id = new TimerId("latchkey.store.call", operation, outcome, "");
        return timer(id, "How long calls to the store take", "operation", operation, "outcome", outcome);
    }

    private Timer timer(TimerId id, String description, String... own) {
        Timer known = timers.get(id);
        return known != null
                ? known
                : timers.computeIfAbsent(
                        id,
                        absent -> Timer.builder(id.name())
                                .description(description)
                                .tags(tags.and(own))
                                .register(registry));
    }
}
