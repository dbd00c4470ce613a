package dev.latchkey.chaos;

import dev.latchkey.servers.RedisConnection;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.ServerAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.awaitility.Awaitility;

/**
 * A Redis server and its replica, of which the address is always that of the master. Both keep on disk what they have written: no
 * test cuts the power of the machine, so that nobody has to wait for the disk.
 */
final class RedisPair implements OwnServer {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private volatile RedisServer master;
    private RedisServer replica;

    private RedisPair(RedisServer master, RedisServer replica) {
        this.master = master;
        this.replica = replica;
    }

    static RedisPair start() {
        RedisPair pair = new RedisPair(durable(), durable());
        follow(pair.replica, pair.master.address().host(), pair.master.address().port());
        pair.awaitInStep();
        return pair;
    }

    static RedisServer durable() {
        return RedisServer.start("--appendonly", "yes", "--appendfsync", "no", "--repl-diskless-sync-delay", "0");
    }

    private static void follow(RedisServer server, String host, int port) {
        server.call("REPLICAOF", host, Integer.toString(port));
    }

    private void awaitInStep() {
        Awaitility.await("the replica to be in step")
                .atMost(LIMIT)
                .until(() -> replica.text("INFO", "replication").contains("master_link_status:up"));
    }

    private static boolean isMaster(RedisServer server) {
        return Objects.requireNonNull(server.call("ROLE")) instanceof List<?> words && "master".equals(words.get(0));
    }

    RedisConnection connect() {
        return master.connect();
    }

    /**
     * A failover by hand, in which nothing is lost: the master takes no writes until its replica has all, and becomes the replica.
     * Who was connected to it still is.
     */
    ServerTrouble failover() {
        return new ServerTrouble() {
            @Override
            public void strike() {
                awaitInStep();
                RedisServer old = master;
                RedisServer next = replica;
                old.call("FAILOVER");
                Awaitility.await("the failover").atMost(LIMIT).until(() -> isMaster(next) && !isMaster(old));
                master = next;
                replica = old;
            }

            @Override
            public void heal() {}
        };
    }

    /** Nothing can be written for a while, and everything be read. */
    ServerTrouble readOnly() {
        return new ServerTrouble() {
            @Override
            public void strike() {
                ServerAddress nobody = ServerAddress.unused();
                follow(master, nobody.host(), nobody.port());
            }

            @Override
            public void heal() {
                master.call("REPLICAOF", "NO", "ONE");
            }
        };
    }

    /** Something that the master is told, and is over then. */
    ServerTrouble command(String... words) {
        return new ServerTrouble() {
            @Override
            public void strike() {
                master.call(words);
            }

            @Override
            public void heal() {}
        };
    }

    /** Some keys are gone, as if they had been evicted. */
    ServerTrouble eviction() {
        return new ServerTrouble() {
            @Override
            public void strike() {
                master.call(
                        "EVAL",
                        "math.randomseed(ARGV[1]) for _, key in ipairs(redis.call('KEYS', '*')) do "
                                + "if math.random(2) == 1 then redis.call('DEL', key) end end",
                        "0",
                        Integer.toString(ThreadLocalRandom.current().nextInt(1_000_000)));
            }

            @Override
            public void heal() {}
        };
    }

    @Override
    public ServerAddress address() {
        return master.address();
    }

    @Override
    public String dsn() {
        return master.dsn();
    }

    @Override
    public void kill() {
        master.kill();
    }

    @Override
    public void restart() {
        master.restart();
    }

    /** The replica forgets as well, as it takes over what its master has. */
    @Override
    public void restartEmpty() {
        master.restartEmpty();
    }

    @Override
    public void freeze() {
        master.freeze();
    }

    @Override
    public void thaw() {
        master.thaw();
    }

    @Override
    public void close() {
        replica.close();
        master.close();
    }
}
