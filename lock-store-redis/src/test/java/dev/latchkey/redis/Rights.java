package dev.latchkey.redis;

import dev.latchkey.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;

/** The rights that docs/stores/redis.md asks for, and users who have them. */
final class Rights {

    static final String SCRIPTS = "+evalsha +eval +time +get +set +del +zadd +zrem +zrange +zrank +zpopmin "
            + "+hset +hget +hdel +hlen +pexpire +pttl +info +scan";
    static final String MESSAGES = "+publish +subscribe +unsubscribe +pubsub|numsub";
    static final String CLUSTER = "+spublish +ssubscribe +sunsubscribe +cluster|nodes +cluster|myid +client|setname";
    static final String REPLICAS = "+wait";

    private Rights() {}

    /** Makes a user who may do this and nothing else. */
    static void give(RedisServer server, String name, String rights) {
        List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", name, "reset", "on", ">p@ss"));
        words.addAll(List.of("resetkeys", "resetchannels", "-@all"));
        words.addAll(List.of(rights.split(" ")));
        server.call(words.toArray(String[]::new));
    }

    /** User and password as they stand in a DSN. */
    static String login(String name) {
        return name + ":p%40ss";
    }

    /** What the server has refused to somebody. */
    static List<String> refusals(RedisServer server) {
        Object log = server.call("ACL", "LOG");
        return log instanceof List<?> list ? list.stream().map(String::valueOf).toList() : List.of();
    }
}
