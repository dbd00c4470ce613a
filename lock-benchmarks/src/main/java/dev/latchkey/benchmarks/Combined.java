package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.RedisServer;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A consensus of three Redis servers, fencing tokens included, beside one server alone. */
final class Combined implements Contest {

    private static final List<Contender> ALL = List.of(
            new Contender(
                    "Latchkey, three servers",
                    Contender.Role.LATCHKEY,
                    Contender.Mode.EXCLUSIVE,
                    "",
                    address -> Ours.exclusive(LockFactory.connect("combined:consensus(" + address + ")"))),
            Contender.floor(
                    "Latchkey, one server",
                    "surviving the loss of a server",
                    address -> Ours.exclusive(LockFactory.connect(address.substring(0, address.indexOf(','))))));

    @Override
    public String store() {
        return "combined";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    /** Its members are asked at the same time, which one processor cannot show. */
    @Override
    public List<Table> tables() {
        return List.of(
                Table.alone(Placement.ALL_PROCESSORS, ALL),
                Table.threads(Placement.ALL_PROCESSORS, ALL),
                Table.alone(Placement.ONE_PROCESSOR, ALL).named("uncontended-pinned"));
    }

    @Override
    public Servers start() {
        List<RedisServer> servers =
                Stream.generate(() -> RedisServer.start()).limit(3).toList();
        String addresses = servers.stream().map(RedisServer::dsn).collect(Collectors.joining(","));
        return new Servers(
                addresses, "3 × " + Redis.software(servers.get(0)), null, () -> servers.forEach(RedisServer::close));
    }

    @Override
    public List<String> libraries() {
        return List.of("lettuce-core");
    }
}
