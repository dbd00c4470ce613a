package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/** Translates the requests of the SPI into script requests. Each script describes its arguments. */
final class Requests {

    /** The attempt of a call that does not wait: nobody cancels it. What follows names the store. */
    static final String NO_ATTEMPT = "0:";

    private static final long MAX_POLL_MILLIS = 5_000;
    private static final long MIN_POLL_MILLIS = 100;

    /** As a rank: it is not known how many are before a waiter. */
    static final long UNKNOWN_RANK = -1;

    private static final int FENCE_DIGITS = 16;
    private static final String SHARED_CLAIM = "-";

    private final KeyNames names;
    private final long retentionMillis;
    private final String retention;
    private final String noAttempt;

    /** @param inbox the store, as {@link WaiterRegistry#id()} */
    Requests(KeyNames names, Duration retention, String inbox) {
        this.noAttempt = NO_ATTEMPT + inbox;
        this.names = names;
        this.retentionMillis = retention.toMillis();
        this.retention = Long.toString(retentionMillis);
    }

    /**
     * Acquires, renews, promotes or demotes without waiting.
     *
     * @param proposal a fencing token that the caller would like for a new hold; 0 for none
     */
    ScriptRequest acquire(Request request, long proposal) {
        boolean isPlain = request.key().held().isEmpty() && request.leaseChange() == LeaseChange.EXTEND;
        return isPlain
                ? acquire(request, noAttempt, want(request) + wish(proposal))
                : acquire(request, noAttempt, want(request), claim(request.key()) + " 0 0 0 " + change(request));
    }

    /** Joins the queue, or keeps the place that the ticket names. */
    ScriptRequest acquire(Request request, String attempt, long ticket, NotificationChannel.Push push) {
        return acquire(request, attempt, want(request), options(request, ticket, push));
    }

    /** The same for a waiter that polled until now and can be notified from now on. */
    ScriptRequest acquireListening(Request request, String attempt, long ticket, NotificationChannel.Push push) {
        String polling = pollAndPush(request, NotificationChannel.Push.NONE);
        return acquire(request, attempt, want(request), options(request, ticket, push), polling);
    }

    private ScriptRequest acquire(Request request, String attempt, String want, String... more) {
        long ttl = ttlMillis(request);
        List<String> args = new ArrayList<>(6);
        Collections.addAll(args, Long.toString(ttl), Long.toString(ttl + retentionMillis), attempt, want);
        Collections.addAll(args, more);
        ScriptRequest repeatable = of(Script.ACQUIRE, request.key(), args);
        return setsLease(request) ? repeatable.once() : repeatable;
    }

    private static String options(Request request, long ticket, NotificationChannel.Push push) {
        return String.join(
                " ",
                claim(request.key()),
                Long.toString(pollMillis(request, push)),
                Long.toString(ticket),
                push.code(),
                change(request));
    }

    ScriptRequest cancel(Request request, String attempt) {
        Stream<String> members =
                Stream.of(NotificationChannel.Push.values()).map(push -> member(request, attempt, push));
        return of(
                Script.CANCEL,
                request.key(),
                Stream.concat(Stream.of(attempt, retention), members).toList());
    }

    /** Returns what stands for a waiter in the queue. */
    static String member(Request request, String attempt, NotificationChannel.Push push) {
        Key key = request.key();
        String want = key.held().isPresent() ? "p" : want(request);
        return String.join(
                " ", key.token(), attempt, want, Long.toString(ttlMillis(request)), pollAndPush(request, push));
    }

    static String pollAndPush(Request request, NotificationChannel.Push push) {
        return pollMillis(request, push) + " " + push.code();
    }

    /**
     * How often a waiter asks by itself. The server takes a waiter for dead that is silent for three times as long and a second.
     * A waiter that is not notified is therefore never given a long interval.
     */
    static long pollMillis(Request request, NotificationChannel.Push push) {
        return push == NotificationChannel.Push.NONE
                ? MIN_POLL_MILLIS
                : Math.max(MIN_POLL_MILLIS, Math.min(MAX_POLL_MILLIS, ttlMillis(request) / 3));
    }

    /**
     * When a waiter in the queue asks next. The first ones notice the end of a lease, one after the other; the rest only poll as a
     * safety net.
     *
     * @param rank how many are before it, negative if that is not known
     */
    static long pauseMillis(Request request, NotificationChannel.Push push, long rank, long millisToLeaseEnd) {
        if (push == NotificationChannel.Push.NONE) {
            return ThreadLocalRandom.current().nextLong(20, 101);
        }
        long poll = pollMillis(request, push);
        long position = rank < 0 ? 2 : rank;
        return position > 2 || millisToLeaseEnd <= 0 ? poll : Math.min(poll, millisToLeaseEnd + 1 + 30 * position);
    }

    ScriptRequest refresh(Request request) {
        String claim = request.key().held().isPresent() ? claim(request.key()) : "";
        List<String> args = new ArrayList<>(5);
        Collections.addAll(args, Long.toString(ttlMillis(request)), retention, claim, change(request));
        if (request.isSticky()) {
            args.add("k");
        }
        ScriptRequest repeatable = of(Script.REFRESH, request.key(), args);
        return setsLease(request) ? repeatable.once() : repeatable;
    }

    /** Releases. The fencing token allows a shorter way if nobody waits. */
    ScriptRequest release(Key key) {
        return of(Script.RELEASE, key, List.of(fence(key), retention));
    }

    /** The fencing token that a key claims; empty if it claims none that the server can have granted. */
    private static String fence(Key key) {
        String claim = key.held().isPresent() ? claim(key) : "";
        return claim.length() == FENCE_DIGITS ? claim : "";
    }

    /** Releases what others probably wait for. The reply, not a message, tells the waiters of that inbox what they are granted. */
    ScriptRequest handOff(Key key, String inbox) {
        return of(Script.RELEASE, key, List.of("-" + fence(key), retention, inbox));
    }

    /**
     * The same, and takes along the next waiter of that inbox.
     *
     * @param next what stands for it in the queue
     * @param ticket when it came, by the server's clock; 0 if that is not known
     */
    ScriptRequest handOff(Key key, String inbox, String next, long ticket) {
        return of(Script.RELEASE, key, List.of("-" + fence(key), retention, inbox, next, Long.toString(ticket)));
    }

    ScriptRequest find(Key key) {
        return of(Script.FIND, key, List.of(fence(key)));
    }

    ScriptRequest raiseFence(Key key, long fence) {
        return of(Script.RAISE_FENCE, key, List.of(String.format(Locale.ROOT, "%0" + FENCE_DIGITS + "d", fence)));
    }

    ScriptRequest inspect(String resource) {
        return new ScriptRequest(resource, Script.INSPECT, List.of(names.key(resource)), List.of());
    }

    /** As {@link #inspect}, except that a key which is not a lock counts as one that nobody holds. */
    ScriptRequest inspectListed(String resource) {
        return new ScriptRequest(resource, Script.INSPECT, List.of(names.key(resource)), List.of(ascii("list")));
    }

    ScriptRequest forceRelease(String resource, long fence) {
        List<byte[]> args =
                List.of(ascii(String.format(Locale.ROOT, "%0" + FENCE_DIGITS + "d", fence)), ascii(retention));
        return new ScriptRequest(resource, Script.FORCE_RELEASE, List.of(names.key(resource)), args);
    }

    /** Notes the owner name of a store. */
    ScriptRequest who(String inbox, String owner, long keepMillis) {
        List<byte[]> args = List.of(owner.getBytes(StandardCharsets.UTF_8), ascii(Long.toString(keepMillis)));
        return new ScriptRequest("", Script.WHO, List.of(names.who(inbox)), args);
    }

    private ScriptRequest of(Script script, Key key, List<String> more) {
        List<byte[]> args = new ArrayList<>(more.size() + 1);
        args.add(ascii(key.token()));
        more.forEach(arg -> args.add(ascii(arg)));
        return new ScriptRequest(key.resource(), script, List.of(names.key(key.resource())), args);
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

    /** Rounded up to the server's resolution, so that nobody gets less than was asked for. */
    static long ttlMillis(Request request) {
        return request.ttl().plusNanos(999_999).toMillis();
    }

    private static String want(Request request) {
        String plain = request.mode() == LockMode.SHARED ? "s" : "x";
        String sticky = request.mode() == LockMode.SHARED ? "r" : "k";
        String want = request.isSticky() ? sticky : plain;
        return request.key().held().isPresent() ? want.toUpperCase(Locale.ROOT) : want;
    }

    /** Such a request may end a lease sooner, so a late copy of it would do harm. */
    static boolean setsLease(Request request) {
        return request.leaseChange() == LeaseChange.SET;
    }

    static String change(Request request) {
        return setsLease(request) ? "s" : "e";
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
}
