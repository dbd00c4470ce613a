package dev.latchkey.zookeeper;

import dev.latchkey.zookeeper.Requests.Children;
import dev.latchkey.zookeeper.Requests.Created;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** One node in the line of a resource. Used by one thread at a time until it is in line. */
final class Place {

    private final Session session;
    private final String resource;
    private final String parent;
    private final String id;
    private final Kind kind;
    private final Followers followers = new Followers();
    private volatile @Nullable Created created;
    private CompletableFuture<Answer<Created>> creation = CompletableFuture.completedFuture(Answer.none());
    private volatile boolean inDoubt;
    private volatile boolean demoted;

    Place(Session session, String resource, String parent, String id, Kind kind) {
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

    Kind kind() {
        return kind;
    }

    Followers followers() {
        return followers;
    }

    String name() {
        return node().name();
    }

    String path() {
        return parent + '/' + name();
    }

    /** The number of the transaction that made it. */
    long zxid() {
        return node().zxid();
    }

    private Created node() {
        return Objects.requireNonNull(created, "not in line");
    }

    String demotionMark() {
        return parent + '/' + Entry.demotionMark(id);
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
        followers.tell(Signal.LOOK);
    }

    /**
     * Makes the node, and looks at the line: both requests are sent before an answer is awaited. What stays in doubt is
     * cleared up before this returns, or is swept up in the background when it throws.
     */
    <X extends Exception> Line join(Limit<X> limit) throws X {
        boolean inLine = false;
        try {
            Line line = tryToJoin(limit);
            session.neighbours().add(this);
            inLine = true;
            return line;
        } finally {
            if (!inLine) {
                withdraw();
            }
        }
    }

    /** Undoes a creation whose answer may still be on its way. */
    private void withdraw() {
        Limit<RuntimeException> limit = Limit.deaf(Failures.LEAVING_NANOS);
        Answer<Created> made = limit.answer(creation);
        boolean left = made.isOk()
                ? !limit.answer(session.requests()
                                .delete(List.of(parent + '/' + made.value().name())))
                        .isLost()
                : !made.isLost();
        if (!left || inDoubt) {
            session.sweeper().sweep(this);
        }
    }

    private <X extends Exception> Line tryToJoin(Limit<X> limit) throws X {
        Requests requests = session.requests();
        do {
            creation = kind.isPromotion()
                    ? requests.joinAndRaiseFloor(parent, Entry.prefix(id, kind))
                    : requests.join(parent, Entry.prefix(id, kind));
            Answer<Children> children =
                    limit.call(() -> requests.childrenBlocking(parent), () -> requests.children(parent));
            Answer<Created> made = limit.answer(creation);
            if (made.isOk()) {
                created = made.value();
                if (children.isOk()) {
                    return checked(line(children.value()));
                }
            }
            if (made.isLost() || children.isLost()) {
                inDoubt = true;
                Line line = findAfterLoss(limit);
                if (line != null) {
                    return line;
                }
            } else if (made.is(Code.NONODE) || children.is(Code.NONODE)) {
                makeParents(limit);
            } else {
                throw Failures.of(resource, made.isOk() ? children : made, "joining the line at " + parent);
            }
        } while (!limit.isOver());
        throw Failures.unanswered(resource, session.client());
    }

    private Line checked(Line line) {
        Entry entry = Entry.parse(name());
        if (entry == null || entry.isUsedUp()) {
            throw Failures.usedUp(resource, parent);
        }
        return line;
    }

    /** Makes what is missing above the node, from the top down. */
    private <X extends Exception> void makeParents(Limit<X> limit) throws X {
        List<String> paths = new ArrayList<>();
        for (int slash = parent.indexOf('/', 1); slash > 0; slash = parent.indexOf('/', slash + 1)) {
            paths.add(parent.substring(0, slash));
        }
        paths.add(parent);
        List<CompletableFuture<Answer<Void>>> creations =
                paths.stream().map(session.requests()::makeParent).toList();
        Answer<Void> refused = Answer.none();
        for (int i = 0; i < paths.size(); i++) {
            Answer<Void> made = limit.answer(creations.get(i));
            if (i == 0 && made.is(Code.NONODE)) {
                throw Failures.noChroot(resource, paths.get(i));
            }
            // Who may not create a node is told that also when it is there: only the last one shows what is missing.
            refused = made.is(Code.NOAUTH) && !refused.is(Code.NOAUTH) ? made : refused;
            if (i == paths.size() - 1 && !made.isOk() && !made.is(Code.NODEEXISTS) && refused.is(Code.NOAUTH)) {
                throw Failures.of(resource, refused, "creating " + paths.get(i));
            }
        }
    }

    /** The answer was lost. Null if the node was not made. */
    private <X extends Exception> @Nullable Line findAfterLoss(Limit<X> limit) throws X {
        while (!limit.isOver()) {
            limit.pause();
            // What the lost connection carried comes before this, or is refused by the leader.
            Answer<Children> children = limit.answer(session.requests().childrenNow(parent));
            if (children.isOk()) {
                Line line = line(children.value());
                Optional<Entry> own = line.find(id);
                Answer<Stat> stat = own.isEmpty()
                        ? Answer.of(Code.NONODE.intValue(), null)
                        : limit.answer(
                                session.requests().stat(parent + '/' + own.get().name()));
                if (stat.isOk() && stat.value().getEphemeralOwner() == session.id()) {
                    created = new Created(own.orElseThrow().name(), stat.value().getCzxid());
                    return checked(line);
                }
                if (stat.is(Code.NONODE)) {
                    return null;
                }
            } else if (children.is(Code.NONODE)) {
                return null;
            } else if (!children.isLost()) {
                throw Failures.of(resource, children, "looking at the line at " + parent);
            }
        }
        return null;
    }

    private static Line line(Children children) {
        return new Line(children.names(), children.stat().getMzxid());
    }

    /** Looks at the line again. */
    <X extends Exception> Line look(Limit<X> limit) throws X {
        Answer<Children> children = limit.answer(session.requests().children(parent));
        while (children.isLost() && !limit.isOver()) {
            limit.pause();
            children = limit.answer(session.requests().childrenNow(parent));
        }
        if (children.isOk()) {
            return line(children.value());
        }
        if (children.is(Code.NONODE)) {
            return new Line(List.of(), 0);
        }
        throw children.isLost()
                ? Failures.unanswered(resource, session.client())
                : Failures.of(resource, children, "looking at the line at " + parent);
    }

    /** Gives the place up. Returns when it is gone, or will be by itself. */
    void leave(Signal toFollowers) {
        List<String> paths = List.of(path());
        CompletableFuture<Answer<Void>> deleting = session.requests().delete(paths);
        ended(toFollowers);
        Answer<Void> deleted = Limit.deaf(Failures.LEAVING_NANOS).answer(deleting);
        if (deleted.isLost() || inDoubt) {
            session.sweeper().sweep(this);
        }
    }

    /** Its deletion has been sent, or it is not relied on any more. */
    void ended(Signal toFollowers) {
        session.neighbours().remove(this);
        followers.tellLast(toFollowers);
    }
}
