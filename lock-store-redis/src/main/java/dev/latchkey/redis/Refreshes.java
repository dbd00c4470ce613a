package dev.latchkey.redis;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Outcome;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Refreshes many holds in one round trip: a script each, all sent before the first answer is waited for. */
final class Refreshes {

    private final Server server;
    private final Names names;
    private final Requests arguments;
    private final Replicas replicas;

    Refreshes(Server server, Names names, Requests arguments, Replicas replicas) {
        this.server = server;
        this.names = names;
        this.arguments = arguments;
        this.replicas = replicas;
    }

    List<Outcome> all(List<Request> requests, Duration within) {
        if (requests.isEmpty()) {
            return List.of();
        }
        Link.Session session = server.link().session(requests.get(0).key().resource());
        long since = System.nanoTime();
        long end = since + Math.min(server.limit().toNanos(), within.toNanos());
        List<CompletableFuture<List<Long>>> answers =
                requests.stream().map(this::send).toList();
        List<Outcome> outcomes = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            CompletableFuture<List<Long>> answer = answers.get(i);
            outcomes.add(Outcome.of(
                    () -> Replies.refreshed(server.answer(request.key().resource(), answer, end), request, since)));
        }
        return replicas.areWanted() ? acknowledged(requests.get(0), session, outcomes) : outcomes;
    }

    private CompletableFuture<List<Long>> send(Request request) {
        String resource = request.key().resource();
        return server.send(
                resource, Requests.script(Script.REFRESH, request), names.key(resource), arguments.refresh(request));
    }

    /** What replicas acknowledge is all that the connection has written before. */
    private List<Outcome> acknowledged(Request any, Link.Session session, List<Outcome> outcomes) {
        Attempt granted = outcomes.stream()
                .map(outcome -> outcome instanceof Outcome.Answered answered ? answered.attempt() : null)
                .filter(Attempt.Granted.class::isInstance)
                .findFirst()
                .orElse(null);
        if (granted == null) {
            return outcomes;
        }
        Outcome of = Outcome.of(() -> replicas.acknowledged(any.key().resource(), session, granted));
        return of instanceof Outcome.Answered
                ? outcomes
                : outcomes.stream()
                        .map(outcome -> isGranted(outcome) ? of : outcome)
                        .toList();
    }

    private static boolean isGranted(Outcome outcome) {
        return outcome instanceof Outcome.Answered answered && answered.attempt() instanceof Attempt.Granted;
    }
}
