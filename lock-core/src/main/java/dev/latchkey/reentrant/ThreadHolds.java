package dev.latchkey.reentrant;

import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the current thread holds, by resource. */
final class ThreadHolds {

    private final Function<String, LockBuilder> options;

    /** One for each instance, whose holds are its own. A thread that holds nothing has no entry. */
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<Map<String, ThreadHold>> held = ThreadLocal.withInitial(HashMap::new);

    ThreadHolds(Function<String, LockBuilder> options) {
        this.options = options;
    }

    Optional<ThreadHold> current(String resource) {
        Map<String, ThreadHold> mine = held.get();
        if (mine.isEmpty()) {
            held.remove();
        }
        return Optional.ofNullable(mine.get(resource));
    }

    /** An owner that holds nothing yet. */
    Lock newOwner(String resource, @Nullable Duration ttl) {
        LockBuilder builder = options.apply(resource);
        return (ttl == null ? builder : builder.ttl(ttl)).create();
    }

    void add(String resource, ThreadHold hold) {
        held.get().put(resource, hold);
    }

    void remove(String resource) {
        Map<String, ThreadHold> mine = held.get();
        mine.remove(resource);
        if (mine.isEmpty()) {
            held.remove();
        }
    }
}
