package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;

/** Requests as the arguments of scripts. */
final class Requests {

    /** The attempt of a call that does not wait: nobody cancels it. */
    private static final byte[] NO_ATTEMPT = ascii("0");

    private static final long MAX_POLL_MILLIS = 5_000;
    private static final long MIN_POLL_MILLIS = 100;
    private static final int FENCE_DIGITS = 16;
    private static final String SHARED_CLAIM = "-";

    private final long retentionMillis;
    private final byte[] retention;

    Requests(Duration retention) {
        this.retentionMillis = retention.toMillis();
        this.retention = ascii(retentionMillis);
    }

    byte[] retention() {
        return retention;
    }

    /** Takes, renews, promotes or demotes without waiting. */
    byte[][] acquire(Request request) {
        return acquire(request, 0);
    }

    /** The same, with a fencing token that would suit: of use where something is taken anew. */
    byte[][] acquire(Request request, long proposal) {
        byte[] token = ascii(request.key().token());
        long ttl = ttlMillis(request);
        String want = want(request);
        return request.key().held().isEmpty() && request.leaseChange() == LeaseChange.EXTEND
                ? new byte[][] {
                    token, ascii(ttl), ascii(ttl + retentionMillis), NO_ATTEMPT, ascii(want + wish(proposal))
                }
                : new byte[][] {
                    token,
                    ascii(ttl),
                    ascii(ttl + retentionMillis),
                    NO_ATTEMPT,
                    ascii(want),
                    ascii(claim(request.key()) + " 0 0 0 " + change(request))
                };
    }

    /** One of a batch. */
    static byte[] batched(Request request) {
        return ascii(String.join(
                " ",
                request.key().token(),
                want(request),
                Long.toString(ttlMillis(request)),
                claim(request.key()),
                change(request)));
    }

    /** Asks for a place in the queue, or to keep the one of the ticket. */
    byte[][] acquire(Request request, String attempt, long ticket, NotificationChannel.GrantMessage push) {
        long ttl = ttlMillis(request);
        return new byte[][] {
            ascii(request.key().token()),
            ascii(ttl),
            ascii(ttl + retentionMillis),
            ascii(attempt),
            ascii(want(request)),
            ascii(String.join(
                    " ",
                    claim(request.key()),
                    Long.toString(pollMillis(request, push)),
                    Long.toString(ticket),
                    push.letter(),
                    change(request)))
        };
    }

    /** The same of one that stands in the queue as one that polls, and can be sent messages from now on. */
    byte[][] acquireListening(Request request, String attempt, long ticket, NotificationChannel.GrantMessage push) {
        byte[][] args = acquire(request, attempt, ticket, push);
        byte[][] more = Arrays.copyOf(args, args.length + 1);
        more[args.length] = ascii(standing(request, NotificationChannel.GrantMessage.NONE));
        return more;
    }

    byte[][] cancel(Request request, String attempt) {
        String token = request.key().token();
        String want = request.key().held().isPresent() ? "p" : want(request);
        String stem = String.join(" ", token, attempt, want, Long.toString(ttlMillis(request)), "");
        Stream<byte[]> entries =
                Stream.of(NotificationChannel.GrantMessage.values()).map(push -> ascii(stem + standing(request, push)));
        return Stream.concat(Stream.of(ascii(token), ascii(attempt), retention), entries)
                .toArray(byte[][]::new);
    }

    /** How the queue knows one that waits, behind who it is and what it wants. */
    private static String standing(Request request, NotificationChannel.GrantMessage push) {
        return pollMillis(request, push) + " " + push.letter();
    }

    /**
     * How often one who waits asks by itself. Who is sent messages asks seldom. Whoever is not heard of for three times as long and
     * a second is taken for dead, so that one who cannot be sent any must not be said to be as slow.
     */
    static long pollMillis(Request request, NotificationChannel.GrantMessage push) {
        return push == NotificationChannel.GrantMessage.NONE
                ? MIN_POLL_MILLIS
                : Math.max(MIN_POLL_MILLIS, Math.min(MAX_POLL_MILLIS, ttlMillis(request) / 3));
    }

    byte[][] refresh(Request request) {
        String claim = request.key().held().isPresent() ? claim(request.key()) : "";
        return new byte[][] {
            ascii(request.key().token()), ascii(ttlMillis(request)), retention, ascii(claim), ascii(change(request))
        };
    }

    /** Gives up. The fencing token makes it shorter for a hold nobody waits for. */
    byte[][] release(Key key) {
        String claim = key.held().isPresent() ? claim(key) : "";
        String fence = claim.length() == FENCE_DIGITS ? claim : "";
        return new byte[][] {ascii(key.token()), ascii(fence), retention};
    }

    /** Gives up what others may wait for. Those who wait in an inbox of this JVM are not sent what the reply can tell. */
    byte[][] handOff(Key key, String inbox) {
        return new byte[][] {ascii(key.token()), ascii(""), retention, ascii(inbox)};
    }

    /** Rounded up to the server's resolution, so that nobody gets less than was asked for. */
    static long ttlMillis(Request request) {
        return request.ttl().plusNanos(999_999).toMillis();
    }

    private static String want(Request request) {
        boolean claimed = request.key().held().isPresent();
        if (request.mode() == LockMode.SHARED) {
            return claimed ? "S" : "s";
        }
        return claimed ? "X" : "x";
    }

    /** As what a request is sent: one that may end a lease sooner is not repeated. */
    static Script script(Script script, Request request) {
        return request.leaseChange() == LeaseChange.SET ? script.once() : script;
    }

    private static String change(Request request) {
        return request.leaseChange() == LeaseChange.SET ? "s" : "e";
    }

    private static String wish(long proposal) {
        String digits = Long.toString(proposal);
        return proposal > 0 && digits.length() == FENCE_DIGITS ? digits : "";
    }

    private static String claim(Key key) {
        return key.held()
                .filter(held -> held.mode() == LockMode.EXCLUSIVE)
                .map(Key.Held::fencingToken)
                .filter(fence -> fence.isPresent())
                .map(fence -> Long.toString(fence.getAsLong()))
                .orElse(SHARED_CLAIM);
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] ascii(long number) {
        return ascii(Long.toString(number));
    }
}
