package dev.latchkey.zookeeper;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/** Describes the holders of a resource, as the queue shows them. */
final class Inspection {

    private Inspection() {}

    static List<Holder> holders(String resource, String parent, Session session) {
        CallTimeout<RuntimeException> limit = CallTimeout.uninterruptible(Failures.ANSWER_NANOS);
        Reply<Requests.Children> children = limit.answer(session.requests().childrenNow(parent));
        while (children.isLost() && !limit.isOver()) {
            limit.pause();
            children = limit.answer(session.requests().childrenNow(parent));
        }
        if (children.is(Code.NONODE)) {
            return List.of();
        }
        if (!children.isOk()) {
            throw children.isLost()
                    ? Failures.unanswered(resource, session.client())
                    : Failures.of(resource, children, "looking at the line at " + parent);
        }
        Requests.Children found = children.value();
        WaitQueue line = new WaitQueue(found.names(), found.stat().getMzxid());
        List<Holder> holders = new ArrayList<>();
        for (NodeName entry : line.holders()) {
            CompletableFuture<Reply<Stat>> asked = session.requests().stat(parent + '/' + entry.name());
            Reply<Stat> stat = limit.answer(asked);
            if (stat.isOk()) {
                holders.add(holder(line, entry, stat.value(), session));
            }
        }
        return List.copyOf(holders);
    }

    private static Holder holder(WaitQueue line, NodeName entry, Stat stat, Session session) {
        boolean shares = !entry.kind().isPromotion() && line.shares(entry);
        long token = Math.max(stat.getCzxid(), line.floor());
        String who = "session 0x" + Long.toHexString(stat.getEphemeralOwner())
                + (stat.getEphemeralOwner() == session.id() ? ", this process" : "");
        return new Holder(
                shares ? LockMode.SHARED : LockMode.EXCLUSIVE,
                shares ? OptionalLong.empty() : OptionalLong.of(token),
                Optional.empty(),
                Optional.of(who));
    }
}
