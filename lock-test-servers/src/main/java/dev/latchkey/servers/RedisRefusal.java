package dev.latchkey.servers;

/** A Redis server answered with an error; the message is the server's. */
public final class RedisRefusal extends RuntimeException {

    private static final long serialVersionUID = 1;

    RedisRefusal(String message) {
        super(message);
    }
}
