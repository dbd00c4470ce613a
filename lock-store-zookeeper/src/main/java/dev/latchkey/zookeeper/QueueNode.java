package dev.latchkey.zookeeper;

import dev.latchkey.zookeeper.Requests.Children;
import dev.latchkey.zookeeper.Requests.Created;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** A node in the queue of a resource. Used by one thread at a time until it is in the queue. */
final class QueueNode {

    private final Session session;
    private final String resource;
    private final String parent;
    private final String id;
    private final NodeKind kind;
    private final NodeListeners followers = new NodeListeners();
    private final Set<String> recalled = new HashSet<>();
    private volatile @Nullable Created created;
    private volatile int number;
    private volatile boolean first;
    private volatile boolean inDoubt;
    private volatile boolean demoted;

    QueueNode(Session session, String resource, String parent, String id, NodeKind kind) {
        this.session = session;
        this.resource = resource;
        this.parent = parent;
        this.id = id;
        this.kind = kind;
    }

    Session session() {
        return session;
    }

    String resource() {
        return resource;
    }

    String parent() {
        return parent;
    }

    String id() {
        return id;
    }

    NodeKind kind() {
        return kind;
    }

    NodeListeners followers() {
        return followers;
    }

    String name() {
        return node().name();
    }

    String path() {
        return parent + '/' + name();
    }

    /** Returns its number in the queue. */
    int number() {
        return number;
    }

    /** Returns the number of the transaction that created it. */
    long zxid() {
        return node().zxid();
    }

    private Created node() {
        return Objects.requireNonNull(created, "not in line");
    }

    String demotionMark() {
        return parent + '/' + NodeName.demotionMark(id);
    }

    /** Returns whether an answer was lost while it was created: the servers may have another node of it. */
    boolean isInDoubt() {
        return inDoubt;
    }

    boolean isDemoted() {
        return demoted;
    }

    void demote() {
        demoted = true;
        followers.tell(WaitSignal.LOOK);
    }

    /**
     * Creates the node and reads the queue. If answers are lost, finds out what happened before this returns; if it throws,
     * the background removes what may have been created.
     */
    <X extends Exception> WaitQueue join(CallTimeout<X> limit) throws X {
        QueueJoin<X> joining = new QueueJoin<>(this, limit);
        boolean inLine = false;
        try {
            WaitQueue line = joining.join();
            first = line.isFirst(name());
            session.predecessorWatches().add(this);
            inLine = true;
            return line;
        } finally {
            if (!inLine) {
                joining.withdraw();
            }
        }
    }

    void made(Created node, int inLine) {
        created = node;
        number = inLine;
    }

    void putInDoubt() {
        inDoubt = true;
    }

    /** Returns whether no node was before it when it joined. */
    boolean isFirst() {
        return first;
    }

    /**
     * Returns the writers that a promotion ignores. Call it before the queue is read: a writer that leaves in between may
     * be in the queue, but no longer in here.
     */
    Set<String> leaving() {
        return kind.isPromotion() ? session.predecessorWatches().leaving() : Set.of();
    }

    static WaitQueue line(Children children, Set<String> leaving) {
        return new WaitQueue(children.names(), children.stat().getMzxid(), leaving);
    }

    /** Reads the queue again. */
    <X extends Exception> WaitQueue look(CallTimeout<X> limit) throws X {
        Set<String> leaving = leaving();
        Reply<Children> children = limit.answer(session.requests().children(parent));
        while (children.isLost() && !limit.isOver()) {
            limit.pause();
            children = limit.answer(session.requests().childrenNow(parent));
        }
        if (children.isOk()) {
            return line(children.value(), leaving);
        }
        if (children.is(Code.NONODE)) {
            return new WaitQueue(List.of(), 0);
        }
        throw children.isLost()
                ? Failures.unanswered(resource, session.client())
                : Failures.of(resource, children, "looking at the line at " + parent);
    }

    /**
     * Asks those that it waits for to give back what they may only keep. Does not wait for the answers.
     *
     * @return whether one of them was asked for the first time
     */
    CompletableFuture<Boolean> recall(WaitQueue line) {
        return session.recalls().recall(parent, line.stickyBefore(name()), recalled);
    }

    /** Leaves the queue. Returns when the node is deleted, or the background deletes it. */
    void leave(WaitSignal toFollowers) {
        List<String> paths = List.of(path());
        CompletableFuture<Reply<Void>> deleting = session.requests().delete(paths);
        ended(toFollowers);
        Reply<Void> deleted =
                CallTimeout.uninterruptible(Failures.LEAVING_NANOS).answer(deleting);
        if (deleted.isLost() || inDoubt) {
            session.sweeper().sweep(this);
        } else {
            gone();
        }
    }

    /** Its deletion has been sent, or it no longer counts. */
    void ended(WaitSignal toFollowers) {
        // Before the followers are told, because they may hold from then on.
        session.predecessorWatches().leaves(this);
        followers.tellLast(toFollowers);
    }

    /** The servers have confirmed its deletion. */
    void gone() {
        session.predecessorWatches().gone(id);
    }
}
