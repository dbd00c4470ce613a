package dev.latchkey.redis;

import dev.latchkey.LockMode;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;

/** The requests of one acquire of a lock. */
record LockAttempt(Requests requests, Request request, String attempt) implements AttemptRequests {

    @Override
    public String resource() {
        return request.key().resource();
    }

    @Override
    public boolean canBeTakenAlong() {
        return request.mode() == LockMode.EXCLUSIVE
                && request.key().held().isEmpty()
                && request.leaseChange() == LeaseChange.EXTEND
                && !request.isSticky();
    }

    @Override
    public String member(NotificationChannel.Push push) {
        return Requests.member(request, attempt, push);
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
