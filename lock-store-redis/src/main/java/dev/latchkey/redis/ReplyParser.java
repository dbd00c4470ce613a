package dev.latchkey.redis;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Translates the replies of scripts into responses of the SPI. */
final class ReplyParser {

    private static final int CONFLICT = -1;
    private static final int OTHER_PROMOTER = -2;
    private static final int LOST = -3;

    private ReplyParser() {}

    static boolean isQueued(List<Long> reply) {
        return reply.get(0) == 0;
    }

    /** Reads the reply to an acquire that is not queued. */
    static Response response(List<Long> reply, Request request, long sinceNanos) {
        long code = reply.get(0);
        if (code > 0) {
            // With a second number, the hold is still exclusive: a request demotes only what it claims.
            LockMode mode = reply.size() > 1 ? LockMode.EXCLUSIVE : request.mode();
            return granted(mode, code, sinceNanos, Duration.ofMillis(Requests.ttlMillis(request)));
        }
        if (code == CONFLICT) {
            return new Response.Conflicted(Duration.ofMillis(reply.get(1)), reply.size() > 2);
        }
        return code == OTHER_PROMOTER ? new Response.Refused() : lost(reply);
    }

    static Response refreshed(List<Long> reply, Request request, long sinceNanos) {
        long code = reply.get(0);
        Duration ttl = Duration.ofMillis(Requests.ttlMillis(request));
        return code < 0
                ? lost(reply)
                : granted(code == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE, code, sinceNanos, ttl);
    }

    static Optional<Response.Granted> found(List<Long> reply, long sinceNanos) {
        if (reply.isEmpty() || reply.get(0) == LOST) {
            return Optional.empty();
        }
        long fence = reply.get(0);
        LockMode mode = fence == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE;
        return Optional.of(granted(mode, fence, sinceNanos, Duration.of(reply.get(1), ChronoUnit.MICROS)));
    }

    /** Whether the reply to a find says that the hold was ended by force. */
    static boolean isForced(List<Long> reply) {
        return reply.size() == 2 && reply.get(0) == LOST && reason(reply.get(1)) == LossReason.FORCED;
    }

    static Response.Granted granted(LockMode mode, long fence, long sinceNanos, Duration ttl) {
        return new Response.Granted(mode, token(mode, fence), Lease.timed(sinceNanos, ttl));
    }

    static OptionalLong token(LockMode mode, long fence) {
        return mode == LockMode.EXCLUSIVE ? OptionalLong.of(fence) : OptionalLong.empty();
    }

    private static Response.Lost lost(List<Long> reply) {
        return new Response.Lost(reason(reply.get(1)));
    }

    static LossReason reason(long why) {
        return switch ((int) why) {
            case 2 -> LossReason.TAKEN_OVER;
            case 3 -> LossReason.RELEASED_ELSEWHERE;
            case 4 -> LossReason.FORCED;
            default -> LossReason.EXPIRED;
        };
    }
}
