package dev.latchkey.zookeeper;

import dev.latchkey.zookeeper.Requests.Children;
import dev.latchkey.zookeeper.Requests.Created;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** One node in the line of a resource. Used by one thread at a time until it is in line. */
final class QueueNode {

    private final Session session;
    private final String resource;
    private final String parent;
    private final String id;
    private final NodeKind kind;
    private final NodeListeners followers = new NodeListeners();
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

    /** Its number in line. */
    int number() {
        return number;
    }

    /** The number of the transaction that made it. */
    long zxid() {
        return node().zxid();
    }

    private Created node() {
        return Objects.requireNonNull(created, "not in line");
    }

    String demotionMark() {
        return parent + '/' + NodeName.demotionMark(id);
    }

    /** An answer was lost while it was made: more of it may be there than is known. */
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
     * Makes the node, and looks at the line. What stays in doubt is cleared up before this returns, or is swept up in the
     * background when it throws.
     */
    <X extends Exception> WaitQueue join(CallTimeout<X> limit) throws X {
        QueueJoin<X> joining = new QueueJoin<>(this, limit);
        boolean inLine = false;
        try {
            WaitQueue line = joining.join();
            first = line.isFirst(name());
            session.neighbours().add(this);
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

    /** Nobody was before it when it joined. */
    boolean isFirst() {
        return first;
    }

    /**
     * What a promotion must look through; to be asked before the line is looked at, since what goes in between is in the
     * line and in here no more.
     */
    Set<String> leaving() {
        return kind.isPromotion() ? session.neighbours().leaving() : Set.of();
    }

    static WaitQueue line(Children children, Set<String> leaving) {
        return new WaitQueue(children.names(), children.stat().getMzxid(), leaving);
    }

    /** Looks at the line again. */
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

    /** Gives the place up. Returns when it is gone, or will be by itself. */
    void leave(WaitSignal toFollowers) {
        List<String> paths = List.of(path());
        CompletableFuture<Reply<Void>> deleting = session.requests().delete(paths);
        ended(toFollowers);
        Reply<Void> deleted = CallTimeout.deaf(Failures.LEAVING_NANOS).answer(deleting);
        if (deleted.isLost() || inDoubt) {
            session.sweeper().sweep(this);
        } else {
            gone();
        }
    }

    /** Its deletion has been sent, or it is not relied on any more. */
    void ended(WaitSignal toFollowers) {
        // Before the followers are told, who may hold from then on.
        session.neighbours().leaves(this);
        followers.tellLast(toFollowers);
    }

    /** The servers have said that it is there no longer. */
    void gone() {
        session.neighbours().gone(id);
    }
}
