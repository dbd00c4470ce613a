package dev.latchkey.redis;

import dev.latchkey.Key;

/** What is done by the fencing token of a hold: to raise it, and to end the hold by force. */
final class FencingTokens {

    /** Scripts calculate with doubles, and can still add one to it. */
    private static final long LARGEST = (1L << 53) - 2;

    private final ScriptRunner server;
    private final Requests requests;
    private final Replicas replicas;

    FencingTokens(ScriptRunner server, Requests requests, Replicas replicas) {
        this.server = server;
        this.requests = requests;
        this.replicas = replicas;
    }

    boolean raise(Key key, long fence) {
        if (fence < 0 || fence > LARGEST) {
            return false;
        }
        ScriptRunner.Sent sent = server.send(requests.raiseFence(key, fence));
        boolean isRaised = server.answer(sent).get(0) == 1;
        if (isRaised) {
            replicas.acknowledge(sent);
        }
        return isRaised;
    }

    boolean forceRelease(String resource, long fence) {
        return fence > 0
                && fence <= LARGEST + 1
                && server.ask(requests.forceRelease(resource, fence)).get(0) == 1;
    }
}
