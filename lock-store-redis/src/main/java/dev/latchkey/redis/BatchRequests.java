package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StateRule;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Translates requests for many resources into requests for one script. */
final class BatchRequests {

    private final KeyNames names;
    private final byte[] retention;
    private final byte[] retentionAndInbox;
    private final boolean isOneServer;

    /** @param inbox the store, as {@link WaiterRegistry#id()} */
    BatchRequests(KeyNames names, Duration retention, String inbox, boolean isOneServer) {
        this.names = names;
        this.retention = Requests.ascii(Long.toString(retention.toMillis()));
        this.retentionAndInbox = Requests.ascii(retention.toMillis() + " " + inbox);
        this.isOneServer = isOneServer;
    }

    /** Acquires, renews, promotes or demotes all of these, or none. */
    ScriptRequest saveAll(List<Request> all, Optional<StateCheck> check) {
        List<byte[]> args = new ArrayList<>(all.size() + 2);
        args.add(retentionAndInbox);
        args.add(Requests.ascii(check.map(BatchRequests::text).orElse("-")));
        all.forEach(request -> args.add(Requests.batched(request)));
        List<String> resources =
                all.stream().map(request -> request.key().resource()).toList();
        ScriptRequest repeatable = of(Script.SAVE_ALL, resources, args);
        return all.stream().anyMatch(Requests::setsLease) ? repeatable.once() : repeatable;
    }

    private static String text(StateCheck check) {
        return (check.rule() == StateRule.BOTH_INDEXES ? "2 " : "1 ") + check.known();
    }

    ScriptRequest releaseAll(List<Key> all) {
        List<byte[]> args = new ArrayList<>(all.size() + 1);
        args.add(retention);
        all.forEach(key -> args.add(Requests.ascii(key.token())));
        return of(Script.RELEASE_ALL, all.stream().map(Key::resource).toList(), args);
    }

    ScriptRequest indexes(List<String> resources) {
        return of(Script.INDEXES, resources, List.of());
    }

    ScriptRequest raiseIndexes(List<String> resources, Map<String, StateIndex> raised) {
        List<byte[]> args = resources.stream()
                .map(resource -> raised.getOrDefault(resource, StateIndex.NONE))
                .map(index -> Requests.ascii(index.exclusive() + " " + index.shared()))
                .toList();
        return of(Script.RAISE_INDEXES, resources, args);
    }

    private ScriptRequest of(Script script, List<String> resources, List<byte[]> args) {
        return new ScriptRequest(resources.get(0), script, keys(resources), args);
    }

    /** Returns the keys, which a cluster has to keep in one slot. */
    List<byte[]> keys(List<String> resources) {
        List<byte[]> keys = resources.stream().map(names::key).toList();
        boolean isSplit = !isOneServer
                && keys.stream().mapToInt(SlotHash::getSlot).distinct().count() > 1;
        if (isSplit) {
            throw new IllegalArgumentException("these " + keys.size()
                    + " resources are in different slots of the Redis cluster and cannot be locked in one step: "
                    + "use a store of their own with hashTag(…) of its builder, or ?hash-tag=… in the DSN; "
                    + "for locks on trees, one tag for each tree");
        }
        return keys;
    }
}
