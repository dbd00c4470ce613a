package dev.latchkey.redis;

import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Refreshes many holds in one round trip: a script each, all sent before the first answer is waited for. */
final class Refreshes {

    private final ScriptRunner server;
    private final KeyNames names;
    private final Requests arguments;
    private final Replicas replicas;

    Refreshes(ScriptRunner server, KeyNames names, Requests arguments, Replicas replicas) {
        this.server = server;
        this.names = names;
        this.arguments = arguments;
        this.replicas = replicas;
    }

    List<RefreshResult> all(List<Request> requests, Duration within) {
        if (requests.isEmpty()) {
            return List.of();
        }
        SharedConnection.Session session =
                server.link().session(requests.get(0).key().resource());
        long since = System.nanoTime();
        long end = since + Math.min(server.limit().toNanos(), within.toNanos());
        List<CompletableFuture<List<Long>>> answers =
                requests.stream().map(this::send).toList();
        List<RefreshResult> outcomes = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            CompletableFuture<List<Long>> answer = answers.get(i);
            outcomes.add(RefreshResult.of(
                    () -> ReplyParser.refreshed(server.answer(request.key().resource(), answer, end), request, since)));
        }
        return replicas.areWanted() ? acknowledged(requests.get(0), session, outcomes) : outcomes;
    }

    private CompletableFuture<List<Long>> send(Request request) {
        String resource = request.key().resource();
        return server.send(
                resource, Requests.script(Script.REFRESH, request), names.key(resource), arguments.refresh(request));
    }

    /** What replicas acknowledge is all that the connection has written before. */
    private List<RefreshResult> acknowledged(
            Request any, SharedConnection.Session session, List<RefreshResult> outcomes) {
        Response granted = outcomes.stream()
                .map(outcome -> outcome instanceof RefreshResult.Answered answered ? answered.response() : null)
                .filter(Response.Granted.class::isInstance)
                .findFirst()
                .orElse(null);
        if (granted == null) {
            return outcomes;
        }
        RefreshResult of =
                RefreshResult.of(() -> replicas.acknowledged(any.key().resource(), session, granted));
        return of instanceof RefreshResult.Answered
                ? outcomes
                : outcomes.stream()
                        .map(outcome -> isGranted(outcome) ? of : outcome)
                        .toList();
    }

    private static boolean isGranted(RefreshResult outcome) {
        return outcome instanceof RefreshResult.Answered answered && answered.response() instanceof Response.Granted;
    }
}
