package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StateRule;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;

/** Many resources by one script, which the server runs whole: on a cluster they must be in one slot. */
final class Batches {

    /** As many as a server is busy with for a tenth of a second or two: it does nothing else meanwhile. */
    private static final int MOST_AT_ONCE = 5_000;

    private static final int CONFLICT = -1;
    private static final int LOST = -3;
    private static final int STALE = -4;

    private final KeyNames names;
    private final Requests requests;
    private final ScriptRunner server;
    private final Replicas replicas;
    private final boolean isOneServer;

    Batches(KeyNames names, Requests requests, ScriptRunner server, Replicas replicas, boolean isOneServer) {
        this.names = names;
        this.requests = requests;
        this.server = server;
        this.replicas = replicas;
        this.isOneServer = isOneServer;
    }

    BatchAttempt saveAll(List<Request> all, Optional<StateCheck> check) {
        boolean isRenewal = check.isEmpty() && all.stream().allMatch(Batches::isRenewal);
        return isRenewal ? renewed(all) : saveAtOnce(all, check);
    }

    /** Of what is held as it is wanted: renewing some of it more is no harm where others turn out to be lost. */
    private static boolean isRenewal(Request request) {
        return request.key()
                .held()
                .filter(held -> held.mode() == request.mode())
                .isPresent();
    }

    private BatchAttempt renewed(List<Request> all) {
        List<Response.Granted> grants = new ArrayList<>();
        for (List<Request> some : parts(all)) {
            BatchAttempt attempt = saveAtOnce(some, Optional.empty());
            if (!(attempt instanceof BatchAttempt.Granted granted)) {
                return attempt;
            }
            grants.addAll(granted.grants());
        }
        return new BatchAttempt.Granted(grants);
    }

    private static <T> List<List<T>> parts(List<T> all) {
        List<List<T>> parts = new ArrayList<>();
        for (int from = 0; from < all.size(); from += MOST_AT_ONCE) {
            parts.add(all.subList(from, Math.min(all.size(), from + MOST_AT_ONCE)));
        }
        return parts;
    }

    private BatchAttempt saveAtOnce(List<Request> all, Optional<StateCheck> check) {
        if (all.isEmpty()) {
            return new BatchAttempt.Granted(List.of());
        }
        List<String> resources = all.stream().map(one -> one.key().resource()).toList();
        List<byte[]> keys = keys(resources);
        List<byte[]> args = new ArrayList<>();
        args.add(requests.retention());
        args.add(Requests.ascii(check.map(Batches::text).orElse("-")));
        all.forEach(one -> args.add(Requests.batched(one)));
        SharedConnection.Session session = server.link().session(resources.get(0));
        long since = System.nanoTime();
        List<Long> reply = ask(resources, script(all), keys, args);
        return answer(reply, all, resources, session, since);
    }

    private static Script script(List<Request> all) {
        return all.stream().anyMatch(one -> one.leaseChange() == LeaseChange.SET)
                ? Script.SAVE_ALL.once()
                : Script.SAVE_ALL;
    }

    private static String text(StateCheck check) {
        return (check.rule() == StateRule.BOTH_INDEXES ? "2 " : "1 ") + check.known();
    }

    private BatchAttempt answer(
            List<Long> reply, List<Request> all, List<String> resources, SharedConnection.Session session, long since) {
        return switch (reply.get(0).intValue()) {
            case CONFLICT -> {
                Set<String> blocked = new TreeSet<>();
                reply.stream().skip(2).forEach(i -> blocked.add(resources.get(i.intValue() - 1)));
                yield new BatchAttempt.Conflicted(blocked, Duration.ofMillis(reply.get(1)));
            }
            case LOST -> {
                Map<String, LossReason> reasons = new TreeMap<>();
                pairs(reply, resources, (resource, why) -> reasons.put(resource, ReplyParser.reason(why)));
                yield new BatchAttempt.Lost(reasons);
            }
            case STALE -> {
                Map<String, Long> required = new TreeMap<>();
                pairs(reply, resources, required::put);
                yield new BatchAttempt.Stale(required);
            }
            default -> granted(reply, all, session, since);
        };
    }

    private static void pairs(List<Long> reply, List<String> resources, BiConsumer<String, Long> each) {
        for (int i = 1; i < reply.size(); i += 2) {
            each.accept(resources.get(reply.get(i).intValue() - 1), reply.get(i + 1));
        }
    }

    private BatchAttempt granted(List<Long> reply, List<Request> all, SharedConnection.Session session, long since) {
        List<Response.Granted> grants = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            Request request = all.get(i);
            long fence = reply.get(i + 1);
            // Less than zero: exclusive still, since that was not claimed.
            LockMode mode = fence < 0 ? LockMode.EXCLUSIVE : request.mode();
            grants.add(
                    ReplyParser.granted(mode, Math.abs(fence), since, Duration.ofMillis(Requests.ttlMillis(request))));
        }
        Response unused = replicas.acknowledged(all.get(0).key().resource(), session, grants.get(0));
        return new BatchAttempt.Granted(grants);
    }

    int deleteAll(List<Key> all) {
        List<byte[]> unused = keys(all.stream().map(Key::resource).toList());
        return parts(all).stream().mapToInt(this::deleteAtOnce).sum();
    }

    private int deleteAtOnce(List<Key> all) {
        List<String> resources = all.stream().map(Key::resource).toList();
        List<byte[]> args = new ArrayList<>();
        args.add(requests.retention());
        all.forEach(key -> args.add(Requests.ascii(key.token())));
        return ask(resources, Script.RELEASE_ALL, keys(resources), args).get(0).intValue();
    }

    Map<String, StateIndex> indexes(Collection<String> wanted) {
        Map<String, StateIndex> found = new HashMap<>();
        parts(List.copyOf(wanted)).forEach(resources -> lookAtOnce(resources, found));
        return found;
    }

    private void lookAtOnce(List<String> resources, Map<String, StateIndex> found) {
        List<Long> reply = ask(resources, Script.INDEXES, keys(resources), List.of());
        for (int i = 0; i < resources.size(); i++) {
            StateIndex index = new StateIndex(reply.get(2 * i), reply.get(2 * i + 1));
            if (!index.equals(StateIndex.NONE)) {
                found.put(resources.get(i), index);
            }
        }
    }

    void raise(Map<String, StateIndex> raised) {
        if (raised.isEmpty()) {
            return;
        }
        List<String> all = List.copyOf(raised.keySet());
        SharedConnection.Session session = server.link().session(all.get(0));
        parts(all).forEach(resources -> raiseAtOnce(resources, raised));
        replicas.acknowledge(all.get(0), session);
    }

    private void raiseAtOnce(List<String> resources, Map<String, StateIndex> raised) {
        List<byte[]> args = new ArrayList<>();
        resources.forEach(resource -> {
            StateIndex index = raised.getOrDefault(resource, StateIndex.NONE);
            args.add(Requests.ascii(index.exclusive() + " " + index.shared()));
        });
        List<Long> unused = ask(resources, Script.RAISE_INDEXES, keys(resources), args);
    }

    private List<Long> ask(List<String> resources, Script script, List<byte[]> keys, List<byte[]> args) {
        return server.ask(resources.get(0), script, keys, args.toArray(byte[][]::new));
    }

    private List<byte[]> keys(List<String> resources) {
        List<byte[]> keys = resources.stream().map(names::key).toList();
        boolean isSplit = !isOneServer
                && keys.stream().mapToInt(SlotHash::getSlot).distinct().count() > 1;
        if (isSplit) {
            throw new IllegalArgumentException("these " + keys.size()
                    + " resources are in different slots of the Redis cluster, and cannot be taken in one step: "
                    + "make a store for them alone with hashTag(…) of its builder, or ?hash-tag=… in the DSN; "
                    + "for locks on a tree, one tag for each tree");
        }
        return keys;
    }
}
