package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
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

/** Operations on many resources, each one script that the server runs as a whole. */
final class Batches {

    /** So many keep a server busy for a tenth of a second or two, during which it does nothing else. */
    private static final int MOST_AT_ONCE = 5_000;

    private static final int CONFLICT = -1;
    private static final int LOST = -3;
    private static final int STALE = -4;

    private final BatchRequests requests;
    private final ScriptRunner server;
    private final Replicas replicas;
    private final OwnerNames owners;
    private final HoldWatch watch;

    Batches(BatchRequests requests, ScriptRunner server, Replicas replicas, OwnerNames owners, HoldWatch watch) {
        this.owners = owners;
        this.watch = watch;
        this.requests = requests;
        this.server = server;
        this.replicas = replicas;
    }

    BatchAttempt saveAll(List<Request> all, Optional<StateCheck> check) {
        boolean isRenewal = check.isEmpty() && all.stream().allMatch(Batches::isRenewal);
        BatchAttempt attempt = isRenewal ? renewed(all) : saveAtOnce(all, check);
        all.stream().findFirst().ifPresent(owners::use);
        return watch.watched(all, attempt);
    }

    /** Whether it is held already as it is wanted. If others turn out to be lost, it does no harm to have renewed it. */
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
        ScriptRunner.Sent sent = server.send(requests.saveAll(all, check));
        List<Long> reply = server.answer(sent);
        return switch (reply.get(0).intValue()) {
            case CONFLICT -> {
                Set<String> blocked = new TreeSet<>();
                reply.stream().skip(3).forEach(i -> blocked.add(resource(all, i)));
                yield new BatchAttempt.Conflicted(blocked, Duration.ofMillis(reply.get(1)), reply.get(2) == 1);
            }
            case LOST -> {
                Map<String, LossReason> reasons = new TreeMap<>();
                pairs(reply, all, (resource, why) -> reasons.put(resource, ReplyParser.reason(why)));
                yield new BatchAttempt.Lost(reasons);
            }
            case STALE -> {
                Map<String, Long> required = new TreeMap<>();
                pairs(reply, all, required::put);
                yield new BatchAttempt.Stale(required);
            }
            default -> granted(reply, all, sent);
        };
    }

    private static void pairs(List<Long> reply, List<Request> all, BiConsumer<String, Long> each) {
        for (int i = 1; i < reply.size(); i += 2) {
            each.accept(resource(all, reply.get(i)), reply.get(i + 1));
        }
    }

    /** The script counts from 1. */
    private static String resource(List<Request> all, long number) {
        return all.get((int) number - 1).key().resource();
    }

    private BatchAttempt granted(List<Long> reply, List<Request> all, ScriptRunner.Sent sent) {
        List<Response.Granted> grants = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            Request request = all.get(i);
            long fence = reply.get(i + 1);
            // Negative: the hold is still exclusive, because the request did not claim it.
            LockMode mode = fence < 0 ? LockMode.EXCLUSIVE : request.mode();
            Duration ttl = Duration.ofMillis(Requests.ttlMillis(request));
            grants.add(ReplyParser.granted(mode, Math.abs(fence), sent.sinceNanos(), ttl));
        }
        replicas.acknowledge(sent);
        return new BatchAttempt.Granted(grants);
    }

    int deleteAll(List<Key> all) {
        List<byte[]> unused = requests.keys(all.stream().map(Key::resource).toList());
        int held = parts(all).stream()
                .mapToInt(keys -> server.ask(requests.releaseAll(keys)).get(0).intValue())
                .sum();
        watch.released(all);
        return held;
    }

    Map<String, StateIndex> indexes(Collection<String> wanted) {
        Map<String, StateIndex> found = new HashMap<>();
        for (List<String> resources : parts(List.copyOf(wanted))) {
            List<Long> reply = server.ask(requests.indexes(resources));
            for (int i = 0; i < resources.size(); i++) {
                StateIndex index = new StateIndex(reply.get(2 * i), reply.get(2 * i + 1));
                if (!index.equals(StateIndex.NONE)) {
                    found.put(resources.get(i), index);
                }
            }
        }
        return found;
    }

    void raise(Map<String, StateIndex> raised) {
        ScriptRunner.Sent first = null;
        for (List<String> resources : parts(List.copyOf(raised.keySet()))) {
            ScriptRunner.Sent sent = server.send(requests.raiseIndexes(resources, raised));
            first = first == null ? sent : first;
            List<Long> unused = server.answer(sent);
        }
        if (first != null) {
            replicas.acknowledge(first);
        }
    }
}
