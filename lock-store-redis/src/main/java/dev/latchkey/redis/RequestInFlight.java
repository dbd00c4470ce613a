package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The request of a waiter that has no answer yet: at most one. Used by the thread that waits. */
final class RequestInFlight {

    private static final long OVERSLEPT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** So many limits at most are waited for an answer while others come. */
    private static final int MOST_LIMITS = 10;

    private final ScriptRunner server;
    private volatile boolean outlastsOthers;
    private ScriptRunner.@Nullable Sent sent;
    private long answerByNanos;

    /** When the first of the requests that failed in a row was sent. */
    private @Nullable Long failingSinceNanos;

    RequestInFlight(ScriptRunner server) {
        this.server = server;
    }

    /** Has the answer waited for as long as those of earlier requests come: no thread waits for it meanwhile. */
    void outlastOthers() {
        outlastsOthers = true;
    }

    boolean isThere() {
        return sent != null;
    }

    void sent(ScriptRunner.Sent now) {
        sent = now;
        answerByNanos = now.sinceNanos() + server.limit().toNanos();
    }

    /** When it is to be answered, while there is one. */
    long answerByNanos() {
        return answerByNanos;
    }

    /** Notes an answer, or a failure. Returns whether it is that of this request, and not of one that was given up. */
    boolean takeAnswer(ScriptRunner.Sent answered) {
        boolean isMine = answered.equals(sent);
        sent = isMine ? null : sent;
        return isMine;
    }

    /** The server has answered. */
    void succeeded() {
        failingSinceNanos = null;
    }

    /**
     * The request has failed.
     *
     * @throws LockStorageException if that does not pass, or requests have failed for the command timeout
     */
    void failed(ScriptRunner.Sent failed, Throwable cause) {
        boolean passing = Failures.isConnection(cause) || Failures.isPassing(cause);
        // Not since the last answer: requests are seconds apart, and one that fails is no reason to give up.
        long since = failingSinceNanos == null ? failed.sinceNanos() : failingSinceNanos;
        failingSinceNanos = since;
        if (!passing || System.nanoTime() - since > server.limit().toNanos()) {
            throw server.failures().of(failed.request().resource(), cause);
        }
    }

    /**
     * Checks whether the answer is late. If this process slept as well, it may be here, and nobody has read it yet. Of thousands of
     * requests that are sent at once, the last are answered when those before them were.
     *
     * @throws LockStorageException if the answer is late
     */
    void checkTime(long now) {
        ScriptRunner.Sent late = sent;
        if (late == null || now - answerByNanos < 0) {
            return;
        }
        if (now - answerByNanos > OVERSLEPT_NANOS) {
            answerByNanos = now + server.limit().toNanos();
        } else if (isAfterOthers(late, now)) {
            answerByNanos = server.link().heardInOrderNanos().orElse(now)
                    + server.limit().toNanos();
        } else {
            sent = null;
            late.answer().cancel(false);
            throw server.noAnswer(late.request().resource());
        }
    }

    private boolean isAfterOthers(ScriptRunner.Sent late, long now) {
        OptionalLong heard = server.link().heardInOrderNanos();
        long limit = server.limit().toNanos();
        return outlastsOthers
                && heard.isPresent()
                && heard.getAsLong() - late.sinceNanos() > 0
                && now - heard.getAsLong() < limit
                && now - late.sinceNanos() < MOST_LIMITS * limit;
    }

    void giveUp() {
        ScriptRunner.Sent last = sent;
        if (last != null) {
            last.answer().cancel(false);
        }
    }
}
