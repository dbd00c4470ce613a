package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.spi.Permits;
import dev.latchkey.spi.Request;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/** Translates requests for permits into script requests. Each script describes its arguments. */
final class PermitRequests {

    private static final String DOES_NOT_WAIT = "0 0 0";

    private final KeyNames names;
    private final String noAttempt;

    /** @param inbox the store, as {@link WaiterRegistry#id()} */
    PermitRequests(KeyNames names, String inbox) {
        this.names = names;
        this.noAttempt = Requests.NO_ATTEMPT + inbox;
    }

    /** Acquires or renews without waiting. */
    ScriptRequest acquire(Request request) {
        return acquire(request, noAttempt, DOES_NOT_WAIT);
    }

    /** Joins the queue, or keeps the place that the ticket names. */
    ScriptRequest acquire(Request request, String attempt, long ticket, NotificationChannel.Push push) {
        return acquire(request, attempt, waiting(request, ticket, push));
    }

    /** The same for a waiter that polled until now and can be notified from now on. */
    ScriptRequest acquireListening(Request request, String attempt, long ticket, NotificationChannel.Push push) {
        String polling = Requests.pollAndPush(request, NotificationChannel.Push.NONE);
        return acquire(request, attempt, waiting(request, ticket, push), polling);
    }

    private static String waiting(Request request, long ticket, NotificationChannel.Push push) {
        return Requests.pollMillis(request, push) + " " + ticket + " " + push.code();
    }

    private ScriptRequest acquire(Request request, String attempt, String waiting, String... more) {
        String claim = request.key().held().isPresent() ? "1" : "0";
        List<String> args = new ArrayList<>(5);
        Permits permits = Permits.of(request.key());
        String options = claim + " " + Requests.change(request) + " " + waiting;
        Collections.addAll(args, ttl(request), attempt, wanted(permits), options);
        Collections.addAll(args, more);
        return onceIfItSetsALease(request, of(Script.PERMIT_ACQUIRE, permits.semaphore(), request.key(), args));
    }

    ScriptRequest cancel(Request request, String attempt) {
        Permits permits = Permits.of(request.key());
        Stream<String> members =
                Stream.of(NotificationChannel.Push.values()).map(push -> member(request, attempt, push));
        List<String> args = Stream.concat(Stream.of(attempt), members).toList();
        return of(Script.PERMIT_CANCEL, permits.semaphore(), request.key(), args);
    }

    /** Returns what stands for a waiter in the queue. */
    static String member(Request request, String attempt, NotificationChannel.Push push) {
        return String.join(
                " ",
                request.key().token(),
                attempt,
                wanted(Permits.of(request.key())),
                ttl(request),
                Requests.pollAndPush(request, push));
    }

    ScriptRequest refresh(Request request) {
        return onceIfItSetsALease(
                request, of(Script.PERMIT_REFRESH, request.key(), ttl(request), Requests.change(request)));
    }

    /** A late copy would end what was extended since. */
    private static ScriptRequest onceIfItSetsALease(Request request, ScriptRequest repeatable) {
        return Requests.setsLease(request) ? repeatable.once() : repeatable;
    }

    ScriptRequest release(Key key) {
        return of(Script.PERMIT_RELEASE, key);
    }

    /** Releases what others probably wait for. The reply, not a message, tells the waiters of that inbox what they are granted. */
    ScriptRequest handOff(Key key, String inbox) {
        return of(Script.PERMIT_RELEASE, key, inbox);
    }

    ScriptRequest find(Key key) {
        return of(Script.PERMIT_FIND, key);
    }

    ScriptRequest inspect(String semaphore) {
        return new ScriptRequest(semaphore, Script.PERMIT_INSPECT, List.of(names.permits(semaphore)), List.of());
    }

    private ScriptRequest of(Script script, Key key, String... more) {
        return of(script, Permits.of(key).semaphore(), key, List.of(more));
    }

    private ScriptRequest of(Script script, String semaphore, Key key, List<String> more) {
        List<byte[]> args = new ArrayList<>(more.size() + 1);
        args.add(Requests.ascii(key.token()));
        more.forEach(arg -> args.add(Requests.ascii(arg)));
        return new ScriptRequest(semaphore, script, List.of(names.permits(semaphore)), args);
    }

    private static String wanted(Permits permits) {
        return permits.count() + "/" + permits.limit();
    }

    private static String ttl(Request request) {
        return Long.toString(Requests.ttlMillis(request));
    }
}
