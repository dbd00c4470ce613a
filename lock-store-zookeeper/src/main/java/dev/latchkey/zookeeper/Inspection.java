package dev.latchkey.zookeeper;

import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.ResourcePage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/** Describes who holds and who waits, as the queue shows it. */
final class Inspection {

    private final Session session;
    private final CallTimeout<RuntimeException> limit = CallTimeout.uninterruptible(Failures.ANSWER_NANOS);

    Inspection(Session session) {
        this.session = session;
    }

    List<Holder> holders(String resource, String parent) {
        WaitQueue line = line(resource, parent);
        return holders(line, parent, stats(line, parent));
    }

    List<QueuedWaiter> waiters(String resource, String parent) {
        return waiters(line(resource, parent));
    }

    private WaitQueue line(String resource, String parent) {
        Reply<Requests.Children> children = limit.answer(session.requests().childrenNow(parent));
        while (children.isLost() && !limit.isOver()) {
            limit.pause();
            children = limit.answer(session.requests().childrenNow(parent));
        }
        return line(resource, parent, children);
    }

    private WaitQueue line(String resource, String parent, Reply<Requests.Children> children) {
        if (children.is(Code.NONODE)) {
            return new WaitQueue(List.of(), 0);
        }
        if (!children.isOk()) {
            throw failure(resource, children, parent);
        }
        return new WaitQueue(children.value().names(), children.value().stat().getMzxid());
    }

    private LockStorageException failure(String resource, Reply<?> reply, String path) {
        return reply.isLost()
                ? Failures.unanswered(resource, session.client())
                : Failures.of(resource, reply, "looking at the line at " + path);
    }

    private Map<NodeName, CompletableFuture<Reply<Stat>>> stats(WaitQueue line, String parent) {
        Map<NodeName, CompletableFuture<Reply<Stat>>> stats = new LinkedHashMap<>();
        line.holders().forEach(entry -> stats.put(entry, session.requests().stat(parent + '/' + entry.name())));
        return stats;
    }

    private List<Holder> holders(WaitQueue line, String parent, Map<NodeName, CompletableFuture<Reply<Stat>>> stats) {
        List<Holder> holders = new ArrayList<>();
        stats.forEach((entry, asked) -> {
            Reply<Stat> stat = limit.answer(asked);
            if (stat.isLost()) {
                throw failure("", stat, parent);
            }
            if (stat.isOk()) {
                holders.add(holder(line, entry, stat.value()));
            }
        });
        return List.copyOf(holders);
    }

    /** A queue of a page, with the nodes that were asked for. */
    private record Listed(
            String name, String parent, WaitQueue line, Map<NodeName, CompletableFuture<Reply<Stat>>> stats) {}

    /**
     * Lists what is held below the root. All requests of a page are sent before an answer is waited for.
     *
     * @param paths of the store
     */
    ResourcePage list(Paths paths, String prefix, Optional<String> after, int limitOfPage) {
        NavigableMap<String, String> candidates = candidates(paths, prefix);
        NavigableMap<String, String> rest = after.isPresent() ? candidates.tailMap(after.get(), false) : candidates;
        List<Map.Entry<String, String>> page =
                rest.entrySet().stream().limit(limitOfPage).toList();
        List<CompletableFuture<Reply<Requests.Children>>> asked = page.stream()
                .map(entry -> session.requests().children(entry.getValue()))
                .toList();
        List<Listed> queues = new ArrayList<>();
        for (int i = 0; i < page.size(); i++) {
            String parent = page.get(i).getValue();
            String name = page.get(i).getKey();
            WaitQueue line = line(name, parent, limit.answer(asked.get(i)));
            queues.add(new Listed(name, parent, line, stats(line, parent)));
        }
        List<ListedResource> listed = new ArrayList<>();
        for (Listed queue : queues) {
            List<Holder> holders = holders(queue.line(), queue.parent(), queue.stats());
            if (!holders.isEmpty()) {
                listed.add(new ListedResource(queue.name(), holders, Optional.of(waiters(queue.line()))));
            }
        }
        Optional<String> next = rest.size() > page.size()
                ? Optional.of(page.get(page.size() - 1).getKey())
                : Optional.empty();
        return new ResourcePage(listed, next);
    }

    /** Returns the paths of the queues of resources whose names start with a text, by their names. */
    private NavigableMap<String, String> candidates(Paths paths, String prefix) {
        Reply<Requests.Children> below = limit.answer(session.requests().childrenNow(paths.root()));
        if (!below.isOk() && !below.is(Code.NONODE)) {
            throw failure(prefix, below, paths.root());
        }
        NavigableMap<String, String> found = new TreeMap<>();
        Map<String, CompletableFuture<Reply<byte[]>>> contents = new LinkedHashMap<>();
        for (String node : below.isOk() ? below.value().names() : List.<String>of()) {
            if (Paths.isPlain(node) && node.startsWith(prefix)) {
                found.put(node, paths.below(node));
            } else if (Paths.mayContain(node, prefix)) {
                contents.put(node, session.requests().content(paths.below(node)));
            }
        }
        contents.forEach((node, asked) -> {
            Reply<byte[]> content = limit.answer(asked);
            if (content.isLost()) {
                throw failure(prefix, content, paths.below(node));
            }
            if (content.isOk()) {
                Paths.resource(node, content.value())
                        .filter(name -> name.startsWith(prefix))
                        .ifPresent(name -> found.put(name, paths.below(node)));
            }
        });
        return found;
    }

    private static List<QueuedWaiter> waiters(WaitQueue line) {
        return line.waiters().stream()
                .map(entry -> new QueuedWaiter(
                        entry.kind().isPromotion() || !line.shares(entry) ? LockMode.EXCLUSIVE : LockMode.SHARED,
                        Optional.empty(),
                        Optional.empty()))
                .toList();
    }

    private Holder holder(WaitQueue line, NodeName entry, Stat stat) {
        boolean shares = !entry.kind().isPromotion() && line.shares(entry);
        long token = FencingTokens.first(Math.max(stat.getCzxid(), line.floor()));
        String who = "session 0x" + Long.toHexString(stat.getEphemeralOwner())
                + (stat.getEphemeralOwner() == session.id() ? ", this process" : "");
        return new Holder(
                shares ? LockMode.SHARED : LockMode.EXCLUSIVE,
                shares ? OptionalLong.empty() : OptionalLong.of(token),
                Optional.empty(),
                Optional.of(who));
    }
}
