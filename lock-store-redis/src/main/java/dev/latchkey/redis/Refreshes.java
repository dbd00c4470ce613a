package dev.latchkey.redis;

import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Refreshes many holds in one round trip: one script for each, all sent before the first answer is waited for. */
final class Refreshes {

    private final ScriptRunner server;
    private final Function<Request, ScriptRequest> requests;
    private final Replicas replicas;

    /** @param requests the script request for each refresh */
    Refreshes(ScriptRunner server, Function<Request, ScriptRequest> requests, Replicas replicas) {
        this.server = server;
        this.requests = requests;
        this.replicas = replicas;
    }

    List<RefreshResult> all(List<Request> all, Duration within) {
        if (all.isEmpty()) {
            return List.of();
        }
        List<ScriptRunner.Sent> sent =
                all.stream().map(requests).map(server::send).toList();
        ScriptRunner.Sent first = sent.get(0);
        List<RefreshResult> results = new ArrayList<>();
        for (int i = 0; i < sent.size(); i++) {
            Request request = all.get(i);
            ScriptRunner.Sent one = sent.get(i);
            results.add(RefreshResult.of(() -> ReplyParser.refreshed(
                    server.onlyAnswer(one, first.sinceNanos(), within), request, first.sinceNanos())));
        }
        return replicas.areWanted() ? acknowledged(first, results) : results;
    }

    /** One acknowledgement covers all that the connection has written before. */
    private List<RefreshResult> acknowledged(ScriptRunner.Sent first, List<RefreshResult> results) {
        Response granted = results.stream()
                .map(result -> result instanceof RefreshResult.Answered answered ? answered.response() : null)
                .filter(Response.Granted.class::isInstance)
                .findFirst()
                .orElse(null);
        if (granted == null) {
            return results;
        }
        RefreshResult all = RefreshResult.of(() -> replicas.acknowledged(first, granted));
        return all instanceof RefreshResult.Answered
                ? results
                : results.stream()
                        .map(result -> isGranted(result) ? all : result)
                        .toList();
    }

    private static boolean isGranted(RefreshResult result) {
        return result instanceof RefreshResult.Answered answered && answered.response() instanceof Response.Granted;
    }
}
