package dev.latchkey.redis;

import dev.latchkey.spi.Permits;
import dev.latchkey.spi.Request;

/**
 * The requests of one acquire of permits.
 *
 * @param resource the name of the semaphore
 */
record PermitAttempt(PermitRequests requests, Request request, String attempt, String resource)
        implements AttemptRequests {

    static PermitAttempt of(PermitRequests requests, Request request, String attempt) {
        return new PermitAttempt(
                requests, request, attempt, Permits.of(request.key()).semaphore());
    }

    @Override
    public boolean canBeTakenAlong() {
        return false;
    }

    @Override
    public String member(NotificationChannel.Push push) {
        return PermitRequests.member(request, attempt, push);
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
