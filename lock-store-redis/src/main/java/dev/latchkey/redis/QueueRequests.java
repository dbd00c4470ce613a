package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What one call that waits asks the server, all of it under the name of one attempt. */
final class QueueRequests {

    private final ScriptRunner server;
    private final Requests requests;
    private final byte[] key;
    private final Request request;
    private final String attempt;

    QueueRequests(ScriptRunner server, Requests requests, byte[] key, Request request, String attempt) {
        this.server = server;
        this.requests = requests;
        this.key = key;
        this.request = request;
        this.attempt = attempt;
    }

    Request request() {
        return request;
    }

    String resource() {
        return request.key().resource();
    }

    String attempt() {
        return attempt;
    }

    /** How often one who hears messages asks all the same. */
    long pollMillis() {
        return Requests.pollMillis(request, NotificationChannel.GrantMessage.PUBLISH);
    }

    /** How long an answer is waited for. */
    long limitNanos() {
        return server.limit().toNanos();
    }

    /** Asks for a place in the queue; with a ticket whether its turn has come. */
    QueueRequest ask(long ticket, NotificationChannel.GrantMessage push) {
        return send(push, requests.acquire(request, attempt, ticket, push));
    }

    /** The same of one that the queue knows as one that polls: from now on it can be sent messages. */
    QueueRequest askListening(long ticket, NotificationChannel.GrantMessage push) {
        return send(push, requests.acquireListening(request, attempt, ticket, push));
    }

    private QueueRequest send(NotificationChannel.GrantMessage push, byte[][] args) {
        server.link().connected(resource());
        int generation = server.link().generation();
        long since = System.nanoTime();
        return new QueueRequest(
                since, generation, push, server.send(resource(), Requests.script(Script.ACQUIRE, request), key, args));
    }

    /** What an answer says that does not queue. */
    Response response(List<Long> reply, QueueRequest question) {
        return ReplyParser.response(reply, request, question.sinceNanos());
    }

    /** What a message grants, where its time can be compared with that of the place. */
    boolean canTell(QueuePosition place, GrantMessage.Grant grant) {
        return place.generation() == server.link().generation() && grant.atMicros() >= place.serverMicros();
    }

    Response response(GrantMessage.Grant grant, QueuePosition place) {
        return ReplyParser.granted(
                request.mode(), grant.fence(), place.since(grant), Duration.ofMillis(grant.ttlMillis()));
    }

    /** Leaves the queue, and undoes a grant that crosses: uninterruptibly, but not for longer than the limit. */
    void cancel() {
        server.ask(resource(), Script.CANCEL, key, requests.cancel(request, attempt));
    }

    /** The same without waiting, for threads of the driver. */
    CompletableFuture<List<Long>> cancelApart() {
        try {
            return server.send(resource(), Script.CANCEL, key, requests.cancel(request, attempt));
        } catch (LockStorageException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    LockStorageException noAnswer() {
        return server.noAnswer(resource());
    }

    LockStorageException closed() {
        return server.failures().closed(resource());
    }

    LockStorageException failed(Throwable cause) {
        return server.failures().of(resource(), cause);
    }
}
