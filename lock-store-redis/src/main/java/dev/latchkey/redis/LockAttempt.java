package dev.latchkey.redis;

import dev.latchkey.spi.Request;

/** The requests of one acquire of a lock. */
record LockAttempt(Requests requests, Request request, String attempt) implements AttemptRequests {

    @Override
    public String resource() {
        return request.key().resource();
    }

    @Override
    public ScriptRequest acquire(long ticket, NotificationChannel.Push push) {
        return requests.acquire(request, attempt, ticket, push);
    }

    @Override
    public ScriptRequest acquireListening(long ticket, NotificationChannel.Push push) {
        return requests.acquireListening(request, attempt, ticket, push);
    }

    @Override
    public ScriptRequest cancel() {
        return requests.cancel(request, attempt);
    }
}
