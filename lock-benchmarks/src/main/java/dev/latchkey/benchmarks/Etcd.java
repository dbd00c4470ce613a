package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.EtcdServer;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.PutOption;
import io.grpc.stub.StreamObserver;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The etcd store beside jetcd's own lock, and beside the least that locks there, by jetcd's client. A lease for each thread,
 * kept alive by the client, since the lock of a lease is granted to the same lease again; and one for each lock, granted and
 * revoked, as ShedLock's provider has it, which cannot be had here.
 */
final class Etcd implements Contest {

    private static final Pattern VERSION = Pattern.compile("\"version\":\"([^\"]+)\"");
    private static final String WITHOUT =
            "waiting (asks every 5 ms), order of arrival, sharing, word of a loss, return after a lost answer";

    private static final Contender LATCHKEY = Contender.latchkey(dsn -> Ours.exclusive(LockFactory.connect(dsn)));
    private static final Contender JETCD = Contender.peer(
            "jetcd Lock", "fencing token in the API, sharing, word of a loss, withdrawn waits", Etcd::lock);
    private static final Contender FLOOR =
            Contender.floor("put if absent + delete, a lease kept alive", WITHOUT, dsn -> kept(client(dsn)));

    private static final List<Contender> ALL = List.of(
            LATCHKEY,
            Contender.latchkeyShared(dsn -> Ours.shared(LockFactory.connect(dsn))),
            FLOOR,
            Contender.floor("grant + put if absent + revoke, as ShedLock does", WITHOUT, dsn -> granted(client(dsn))),
            JETCD);

    @Override
    public String store() {
        return "etcd";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    /** It saves a round trip, which one processor cannot show, since it is busy in the meantime. */
    @Override
    public List<Table> tables() {
        List<Contender> core = List.of(LATCHKEY, FLOOR, JETCD);
        return List.of(
                Table.alone(Placement.ALL_PROCESSORS, ALL),
                Table.threads(Placement.ALL_PROCESSORS, ALL),
                Table.alone(Placement.ONE_PROCESSOR, core).named("uncontended-pinned"),
                Table.threads(Placement.ONE_PROCESSOR, core).warmedTimes(2).named("threads-pinned"));
    }

    @Override
    public Servers start() {
        EtcdServer server = EtcdServer.start();
        Matcher version = VERSION.matcher(server.call("maintenance/status", "{}"));
        String software = "etcd " + (version.find() ? version.group(1) : "") + " without fsync";
        return new Servers(server.dsn(), software, server::requests, server::close);
    }

    private static Client client(String dsn) {
        return Client.builder()
                .endpoints("http://" + URI.create(dsn).getAuthority())
                .build();
    }

    private static Contender.Client lock(String dsn) {
        Client client = client(dsn);
        return resource -> {
            long lease = lease(client);
            ByteSequence name = bytes("jetcd/" + resource);
            return new Cycle() {
                private ByteSequence key = name;

                @Override
                public void take() throws Exception {
                    key = client.getLockClient().lock(name, lease).get().getKey();
                }

                @Override
                public boolean giveUp() throws Exception {
                    var unused = client.getLockClient().unlock(key).get();
                    return true;
                }
            };
        };
    }

    private static Contender.Client kept(Client client) {
        return resource -> {
            long lease = lease(client);
            ByteSequence key = bytes("kept/" + resource);
            return new Cycle() {
                @Override
                public void take() throws Exception {
                    Cycle.poll(() -> isPut(client, key, lease));
                }

                @Override
                public boolean giveUp() throws Exception {
                    return client.getKVClient()
                                    .delete(key, DeleteOption.DEFAULT)
                                    .get()
                                    .getDeleted()
                            == 1;
                }
            };
        };
    }

    private static Contender.Client granted(Client client) {
        ByteSequence root = bytes("granted/");
        return resource -> new Cycle() {
            private final ByteSequence key = root.concat(bytes(resource));
            private long lease;

            @Override
            public void take() throws Exception {
                Cycle.poll(() -> {
                    lease = grant(client);
                    return isPut(client, key, lease);
                });
            }

            @Override
            public boolean giveUp() throws Exception {
                var unused = client.getLeaseClient().revoke(lease).get();
                return true;
            }
        };
    }

    private static boolean isPut(Client client, ByteSequence key, long lease)
            throws InterruptedException, ExecutionException {
        TxnResponse answer = client.getKVClient()
                .txn()
                .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.version(0)))
                .Then(Op.put(
                        key,
                        ByteSequence.EMPTY,
                        PutOption.builder().withLeaseId(lease).build()))
                .commit()
                .get();
        return answer.isSucceeded();
    }

    private static long grant(Client client) throws InterruptedException, ExecutionException {
        return client.getLeaseClient().grant(Ours.TTL.toSeconds()).get().getID();
    }

    /** As long as its process. */
    private static long lease(Client client) throws InterruptedException, ExecutionException {
        long lease = grant(client);
        var unused = client.getLeaseClient().keepAlive(lease, new StreamObserver<LeaseKeepAliveResponse>() {
            @Override
            public void onNext(LeaseKeepAliveResponse answer) {}

            @Override
            public void onError(Throwable failure) {}

            @Override
            public void onCompleted() {}
        });
        return lease;
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    @Override
    public List<String> libraries() {
        return List.of("jetcd-core", "grpc-netty-shaded");
    }
}
