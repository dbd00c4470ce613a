package dev.latchkey.etcd;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import io.grpc.Status;

/** Creates the exceptions of this store. */
final class Failures {

    private Failures() {}

    /** Whether to send a request again. */
    static boolean mayRepeat(Status status, boolean isSent, Calls.Repeat repeat) {
        return isOfServer(status) && (!isSent || repeat == Calls.Repeat.HARMLESS || isRefused(status));
    }

    /** Whether another server may be able to answer. */
    static boolean isOfServer(Status status) {
        return switch (status.getCode()) {
            case UNAVAILABLE, DEADLINE_EXCEEDED, UNKNOWN, INTERNAL, CANCELLED -> true;
            default -> false;
        };
    }

    static LockStorageException of(String resource, Status status, boolean isSent) {
        Throwable cause = status.asRuntimeException();
        if (isDenied(status)) {
            return new LockStorageException(
                    resource,
                    "etcd refused the request: " + text(status)
                            + ". The user needs a role with the permission readwrite on the prefix of the locks",
                    cause,
                    Failure.DENIED);
        }
        if (!isSent) {
            return new LockStorageException(
                    resource, "no etcd server was reached in time: " + text(status), cause, Failure.NOT_SENT);
        }
        if (isRefused(status)) {
            return new LockStorageException(
                    resource, "etcd cannot serve the request: " + text(status), cause, Failure.NOT_SENT);
        }
        return new LockStorageException(resource, "etcd failed or did not answer in time: " + text(status), cause);
    }

    private static boolean isDenied(Status status) {
        return switch (status.getCode()) {
            case PERMISSION_DENIED, UNAUTHENTICATED -> true;
            case INVALID_ARGUMENT, FAILED_PRECONDITION -> has(status, "user name") || has(status, "auth");
            default -> false;
        };
    }

    /** Whether the server has said that it did not try. */
    static boolean isRefused(Status status) {
        return has(status, "no leader") || has(status, "too many requests") || has(status, "space exceeded");
    }

    static boolean isLeaseGone(Status status) {
        return status.getCode() == Status.Code.NOT_FOUND && has(status, "lease not found");
    }

    static boolean isTokenOld(Status status) {
        return status.getCode() == Status.Code.UNAUTHENTICATED
                || (status.getCode() == Status.Code.INVALID_ARGUMENT && has(status, "auth store is old"));
    }

    private static boolean has(Status status, String words) {
        String description = status.getDescription();
        return description != null && description.contains(words);
    }

    private static String text(Status status) {
        String description = status.getDescription();
        return status.getCode() + (description == null ? "" : ": " + description);
    }

    /** Without a lease nothing was asked for. */
    static LockStorageException ofLease(String resource, Throwable cause) {
        return new LockStorageException(resource, "etcd granted no lease: " + reason(cause), cause, ofFirst(cause));
    }

    /** Without a token nothing was asked for. */
    static LockStorageException ofToken(String resource, Throwable cause) {
        return new LockStorageException(
                resource, "etcd did not let the user in: " + reason(cause), cause, ofFirst(cause));
    }

    private static Failure ofFirst(Throwable cause) {
        return cause instanceof LockStorageException storage && storage.failure() == Failure.DENIED
                ? Failure.DENIED
                : Failure.NOT_SENT;
    }

    /** What would be written depends on what no server knows now. */
    static LockStorageException leaderless(String resource) {
        return new LockStorageException(
                resource, "no etcd server knows when the lease ends: none leads", null, Failure.NOT_SENT);
    }

    private static String reason(Throwable cause) {
        String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    static LockStorageException closed(String resource) {
        return new LockStorageException(resource, "the store was closed", null, Failure.NOT_SENT);
    }

    static LockStorageException unsettled(String resource) {
        return new LockStorageException(resource, "the hold was changed by others again and again", null);
    }
}
