package dev.latchkey.zookeeper;

import dev.latchkey.zookeeper.Requests.Children;
import dev.latchkey.zookeeper.Requests.Created;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Joins the queue: creates the node and reads the queue, and sends both requests before it waits for an answer. If only
 * this session has used the queue recently, the number of the node is likely to show that it is first, and the queue is
 * not read.
 *
 * @param <X> the exception of an interrupt
 */
final class QueueJoin<X extends Exception> {

    private static final Reply<Created> UNKNOWN = Reply.none();

    private final QueueNode place;
    private final Session session;
    private final String parent;
    private final CallTimeout<X> limit;
    private CompletableFuture<Reply<Created>> creation = CompletableFuture.completedFuture(UNKNOWN);
    private int next;

    QueueJoin(QueueNode place, CallTimeout<X> limit) {
        this.place = place;
        this.session = place.session();
        this.parent = place.parent();
        this.limit = limit;
    }

    WaitQueue join() throws X {
        Requests requests = session.requests();
        Set<String> leaving = place.leaving();
        do {
            boolean likelyAlone = session.lastReleased().isLikelyNext(parent);
            next = session.lastReleased().next(parent);
            create(likelyAlone);
            if (likelyAlone && isAlone(limit.answer(creation))) {
                Created made = creation.join().value();
                return inLine(made, new WaitQueue(List.of(made.name()), 0));
            }
            Reply<Children> children =
                    limit.ask(() -> session.directRequests().children(parent), () -> requests.children(parent));
            Reply<Created> made = limit.answer(creation);
            if (made.isOk() && children.isOk()) {
                isAlone(made);
                return inLine(made.value(), QueueNode.line(children.value(), leaving));
            }
            if (made.isLost() || children.isLost()) {
                place.putInDoubt();
                WaitQueue line = findAfterLoss(leaving);
                if (line != null) {
                    return line;
                }
            } else if (made.is(Code.NONODE) || children.is(Code.NONODE)) {
                makeParents();
            } else {
                throw Failures.of(place.resource(), made.isOk() ? children : made, "joining the line at " + parent);
            }
        } while (!limit.isOver());
        throw Failures.unanswered(place.resource(), session.client());
    }

    private void create(boolean likelyAlone) throws X {
        Requests requests = session.requests();
        String prefix = NodeName.prefix(place.id(), place.kind());
        if (place.kind().isPromotion()) {
            creation = requests.joinAndRaiseFloor(parent, prefix, Paths.content(place.resource()));
        } else if (likelyAlone && limit.mayBlock()) {
            // Stays if the call is interrupted.
            creation = CompletableFuture.completedFuture(UNKNOWN);
            creation = CompletableFuture.completedFuture(
                    limit.call(() -> session.directRequests().join(parent, prefix)));
        } else {
            creation = requests.join(parent, prefix);
        }
    }

    private boolean isAlone(Reply<Created> made) {
        if (place.kind().isPromotion() || !made.isOk()) {
            return false;
        }
        NodeName entry = NodeName.parse(made.value().name());
        return entry != null
                && session.lastReleased()
                        .leadsTo(parent, entry.number(), made.value().zxid())
                && entry.number() == next;
    }

    private WaitQueue inLine(Created made, WaitQueue line) {
        NodeName entry = NodeName.parse(made.name());
        if (entry == null || entry.isUsedUp()) {
            throw Failures.usedUp(place.resource(), parent);
        }
        FencingTokens.check(place.resource(), made.zxid());
        place.made(made, entry.number());
        return line;
    }

    /** Creates the missing parents of the node, from the top down. */
    private void makeParents() throws X {
        List<String> paths = new ArrayList<>();
        for (int slash = parent.indexOf('/', 1); slash > 0; slash = parent.indexOf('/', slash + 1)) {
            paths.add(parent.substring(0, slash));
        }
        paths.add(parent);
        byte[] content = Paths.content(place.resource());
        List<CompletableFuture<Reply<Void>>> creations = paths.stream()
                .map(path -> session.requests().makeParent(path, path.equals(parent) ? content : Requests.NOTHING))
                .toList();
        Reply<Void> refused = Reply.none();
        for (int i = 0; i < paths.size(); i++) {
            Reply<Void> made = limit.answer(creations.get(i));
            if (i == 0 && made.is(Code.NONODE)) {
                throw Failures.noChroot(place.resource(), paths.get(i));
            }
            // A session without the permission to create gets NOAUTH also for an existing node: only the last one
            // counts.
            refused = made.is(Code.NOAUTH) && !refused.is(Code.NOAUTH) ? made : refused;
            if (i == paths.size() - 1 && !made.isOk() && !made.is(Code.NODEEXISTS) && refused.is(Code.NOAUTH)) {
                throw Failures.of(place.resource(), refused, "creating " + paths.get(i));
            }
        }
    }

    /** Looks for the node after its answer was lost. Returns null if it was not created. */
    private @Nullable WaitQueue findAfterLoss(Set<String> leaving) throws X {
        while (!limit.isOver()) {
            limit.pause();
            // Requests of the lost connection are carried out before this one, or the leader rejects them.
            Reply<Children> children = limit.answer(session.requests().childrenNow(parent));
            if (children.isOk()) {
                WaitQueue line = QueueNode.line(children.value(), leaving);
                Optional<NodeName> own = line.find(place.id());
                Reply<Stat> stat = own.isEmpty()
                        ? Reply.of(Code.NONODE.intValue(), null)
                        : limit.answer(
                                session.requests().stat(parent + '/' + own.get().name()));
                if (stat.isOk() && stat.value().getEphemeralOwner() == session.id()) {
                    return inLine(
                            new Created(own.orElseThrow().name(), stat.value().getCzxid()), line);
                }
                if (stat.is(Code.NONODE)) {
                    return null;
                }
            } else if (children.is(Code.NONODE)) {
                return null;
            } else if (!children.isLost()) {
                throw Failures.of(place.resource(), children, "looking at the line at " + parent);
            }
        }
        return null;
    }

    /** Undoes a creation that may not have been answered yet. */
    void withdraw() {
        CallTimeout<RuntimeException> leaving = CallTimeout.uninterruptible(Failures.LEAVING_NANOS);
        Reply<Created> made = leaving.answer(creation);
        boolean left = made.isOk()
                ? !leaving.answer(session.requests()
                                .delete(List.of(parent + '/' + made.value().name())))
                        .isLost()
                : !made.isLost();
        if (!left || place.isInDoubt()) {
            session.sweeper().sweepUp(place, leaving);
        }
    }
}
