package dev.latchkey.zookeeper;

import dev.latchkey.LockStorageException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/** What went wrong, in words. */
final class Failures {

    /** How long a call that ought not to wait may wait for the servers. */
    static final long ANSWER_NANOS = 10_000_000_000L;

    /** How long one who leaves a line waits until it is out, before that is left to the background. */
    static final long LEAVING_NANOS = 2_000_000_000L;

    private Failures() {}

    static LockStorageException of(String resource, Answer<?> answer, String what) {
        if (answer.isSessionEnd()) {
            return answer.is(KeeperException.Code.AUTHFAILED)
                    ? new LockStorageException(resource, "ZooKeeper does not accept the authentication", cause(answer))
                    : sessionEnded(resource);
        }
        if (answer.is(KeeperException.Code.NOAUTH)) {
            return new LockStorageException(
                    resource,
                    what + ": the session may not; it needs the permissions create, delete, read and write there",
                    cause(answer));
        }
        return new LockStorageException(resource, what + ": " + answer.code(), cause(answer));
    }

    private static KeeperException cause(Answer<?> answer) {
        return KeeperException.create(answer.code());
    }

    static LockStorageException unanswered(String resource, ZooKeeper client) {
        return new LockStorageException(
                resource,
                "no ZooKeeper server answered in time; the client is " + client.getState()
                        + ". Its log says which servers it tries",
                null);
    }

    static LockStorageException sessionEnded(String resource) {
        return new LockStorageException(resource, "the session with ZooKeeper has ended", null);
    }

    static LockStorageException clientEnded(String resource) {
        return new LockStorageException(
                resource,
                "the session of the given ZooKeeper client has ended, and no other can be opened with it: make a new client"
                        + " and a new store, or have the store make its clients itself",
                null);
    }

    static LockStorageException noChroot(String resource, String path) {
        return new LockStorageException(
                resource,
                "cannot create " + path + ": the chroot at the end of the connect string does not exist. Create it, for"
                        + " instance with zkCli.sh, or leave it out",
                null);
    }

    static LockStorageException usedUp(String resource, String parent) {
        return new LockStorageException(
                resource,
                "the places in line at " + parent
                        + " are used up, for ZooKeeper counts no further. They begin anew once"
                        + " nobody has held or wanted the lock for about a minute",
                null);
    }

    static LockStorageException closed(String resource) {
        return new LockStorageException(resource, "the store was closed", null);
    }
}
