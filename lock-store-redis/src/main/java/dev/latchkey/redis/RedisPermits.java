package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.PermitHolder;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/** The permits of semaphores on the server of a {@link RedisStore}, over its connections. */
final class RedisPermits implements PermitStore, BlockingStore {

    private static final int NUMBERS_OF_ONE = 5;

    private final ScriptRunner server;
    private final PermitRequests requests;
    private final WaiterRegistry waiters;
    private final QueuedAcquires acquires;
    private final Replicas replicas;
    private final Refreshes refreshes;
    private final OwnerNames owners;
    private final Keyspace keyspace;

    RedisPermits(
            ScriptRunner server,
            PermitRequests requests,
            WaiterRegistry waiters,
            QueuedAcquires acquires,
            Replicas replicas,
            OwnerNames owners,
            Keyspace keyspace) {
        this.server = server;
        this.requests = requests;
        this.waiters = waiters;
        this.acquires = acquires;
        this.replicas = replicas;
        this.refreshes = new Refreshes(server, requests::refresh, replicas);
        this.owners = owners;
        this.keyspace = keyspace;
    }

    @Override
    public Response save(Request request) {
        ScriptRunner.Sent sent = server.send(requests.acquire(request));
        owners.use(request);
        return replicas.acknowledged(sent, ReplyParser.response(server.answer(sent), request, sent.sinceNanos()));
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Response response;
        PermitAttempt attempt = PermitAttempt.of(requests, request, waiters.newAttempt());
        try (QueuedAcquires.Begun begun = acquires.begin(attempt, maxWait, withdrawn)) {
            response = begun.acquire().await();
        }
        // Written again by this connection, because replicas acknowledge what a connection has written.
        return replicas.areWanted() && response instanceof Response.Granted ? refresh(request) : response;
    }

    @Override
    public Response refresh(Request request) {
        ScriptRunner.Sent sent = server.send(requests.refresh(request));
        owners.use(request);
        return replicas.acknowledged(sent, ReplyParser.refreshed(server.answer(sent), request, sent.sinceNanos()));
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> all) {
        return refreshAll(all, server.limit());
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> all, Duration within) {
        List<RefreshResult> results = refreshes.all(all, within);
        all.forEach(owners::use);
        return results;
    }

    @Override
    public boolean refreshesAtOnce() {
        return true;
    }

    @Override
    public boolean delete(Key key) {
        return waiters.wasGrantedInTurn(key.token()) ? handOff(key) : wasHeld(server.ask(requests.release(key)));
    }

    /** Releases what others probably wait for. The reply says which waiters of this store were granted permits. */
    private boolean handOff(Key key) {
        try {
            ScriptRunner.Sent sent = server.send(requests.handOff(key, waiters.id()));
            List<Long> reply = server.answer(sent);
            waiters.handedOver(reply, sent.sinceNanos(), sent.generation());
            if (!wasHeld(reply)) {
                // The driver may have repeated the command. Then the reply that said who was granted something is lost.
                waiters.askAgain(key.resource());
            }
            return wasHeld(reply);
        } catch (LockStorageException e) {
            // A waiter may have been granted permits without being told.
            waiters.askAgain(key.resource());
            throw e;
        }
    }

    private static boolean wasHeld(List<Long> reply) {
        return reply.get(0) == 1;
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        ScriptRunner.Sent sent = server.send(requests.find(key));
        return ReplyParser.found(server.answer(sent), sent.sinceNanos());
    }

    @Override
    public List<PermitHolder> permitHolders(String semaphore) {
        List<Long> reply = server.ask(requests.inspect(semaphore));
        List<List<Long>> holds = new ArrayList<>();
        for (int i = 0; i < reply.size(); i += NUMBERS_OF_ONE) {
            holds.add(reply.subList(i, i + NUMBERS_OF_ONE));
        }
        Map<Long, String> names = keyspace.owners(
                semaphore, holds.stream().map(hold -> hold.get(4)).collect(Collectors.toSet()));
        return holds.stream().map(hold -> holder(hold, names)).toList();
    }

    private static PermitHolder holder(List<Long> hold, Map<Long, String> names) {
        return new PermitHolder(
                Math.toIntExact(hold.get(0)),
                Math.toIntExact(hold.get(1)),
                Duration.of(hold.get(2), ChronoUnit.MICROS),
                Duration.of(hold.get(3), ChronoUnit.MICROS),
                Optional.ofNullable(names.get(hold.get(4))));
    }
}
