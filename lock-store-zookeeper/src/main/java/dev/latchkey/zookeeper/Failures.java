package dev.latchkey.zookeeper;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/** Creates the exceptions of this store. */
final class Failures {

    /** How long a call that does not wait for the lock may wait for the servers. */
    static final long ANSWER_NANOS = 10_000_000_000L;

    /** How long a call that leaves a queue waits for the deletion, before the background takes over. */
    static final long LEAVING_NANOS = 2_000_000_000L;

    private Failures() {}

    static LockStorageException of(String resource, Reply<?> answer, String what) {
        if (answer.isSessionEnd()) {
            return answer.is(KeeperException.Code.AUTHFAILED)
                    ? new LockStorageException(
                            resource, "ZooKeeper does not accept the authentication", cause(answer), Failure.DENIED)
                    : sessionEnded(resource);
        }
        if (answer.is(KeeperException.Code.NOAUTH)) {
            return new LockStorageException(
                    resource,
                    what
                            + ": permission denied; the session needs the permissions create, delete, read and write there",
                    cause(answer),
                    Failure.DENIED);
        }
        return new LockStorageException(resource, what + ": " + answer.code(), cause(answer));
    }

    private static KeeperException cause(Reply<?> answer) {
        return KeeperException.create(answer.code());
    }

    /** Nothing was sent if the client never had a session: queued requests are withdrawn. */
    static LockStorageException unanswered(String resource, ZooKeeper client) {
        return new LockStorageException(
                resource,
                "no ZooKeeper server answered in time; the client is " + client.getState()
                        + ". The log of the client shows which servers it tries",
                null,
                client.getSessionId() == 0 ? Failure.NOT_SENT : Failure.IN_DOUBT);
    }

    /** For a waiter that has sent no request itself. */
    static LockStorageException unansweredBefore(String resource, LockStorageException failure) {
        return new LockStorageException(
                resource, "the waiters before it in this process failed", failure, failure.failure());
    }

    static LockStorageException sessionEnded(String resource) {
        return new LockStorageException(resource, "the session with ZooKeeper has ended", null);
    }

    static LockStorageException clientEnded(String resource) {
        return new LockStorageException(
                resource,
                "the session of the given ZooKeeper client has ended, and the client cannot open another one: make a new client"
                        + " and a new store, or build the store with a supplier of clients, or with a DSN",
                null,
                Failure.NOT_SENT);
    }

    static LockStorageException noClient(String resource, Exception cause) {
        return new LockStorageException(resource, "there is no ZooKeeper client: " + cause, cause, Failure.NOT_SENT);
    }

    static LockStorageException noThread(String resource, OutOfMemoryError cause) {
        return new LockStorageException(
                resource,
                "cannot start the thread that watches the session: " + cause.getMessage(),
                cause,
                Failure.NOT_SENT);
    }

    static LockStorageException noChroot(String resource, String path) {
        return new LockStorageException(
                resource,
                "cannot create " + path + ": the chroot at the end of the connect string does not exist. Create it, for"
                        + " instance with zkCli.sh, or leave it out",
                null,
                Failure.DENIED);
    }

    static LockStorageException usedUp(String resource, String parent) {
        return new LockStorageException(
                resource,
                "the numbers of the queue at " + parent
                        + " are used up. They start again when nobody has held the lock or waited for it for about"
                        + " a minute",
                null);
    }

    static LockStorageException tokensUsedUp(String resource) {
        return new LockStorageException(
                resource,
                "the ensemble has elected so many leaders that its transactions have no greater fencing tokens:"
                        + " set up a new one, whose tokens begin anew",
                null);
    }

    static LockStorageException closed(String resource) {
        return new LockStorageException(resource, "the store was closed", null, Failure.NOT_SENT);
    }
}
