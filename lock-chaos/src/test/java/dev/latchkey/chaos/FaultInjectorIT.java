package dev.latchkey.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.servers.EtcdServer;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FaultInjectorIT {

    @TempDir
    Path directory;

    /** A process asks one server of several. What another one's network is to lose is lost when the process comes there. */
    @Test
    void givenAReplyOfAServerThatNobodyAsksIsToBeLost_whenItIsAskedLater_thenThatIsWhenTheFaultStrikes()
            throws Exception {
        List<EtcdServer> servers = List.of(EtcdServer.start(), EtcdServer.start());
        Path logs = Files.createDirectory(directory.resolve("events"));
        Path written = directory.resolve("faults");
        try (StoreUnderTest backing = new StoreUnderTest(
                        Stores.leases(Guarantees.Servers.ONE, QuietPeriods.SETTLING, ""),
                        Stores.allFaults(),
                        Map.of(),
                        servers,
                        addresses -> "etcd://" + addresses.get(0),
                        List::of);
                EventLog log = new EventLog(written);
                EventLog accesses = new EventLog(logs.resolve("register"));
                Register register = Register.open(accesses);
                WorkerSlot place = new WorkerSlot("w0", backing, Workload.STRESS, register.port(), logs)) {
            Fault fault = new Fault(0, FaultKind.LOST_REPLY, Fault.EVERYWHERE, 1, 50, 50);
            new FaultInjector(backing, List.of(place), log).strike(fault);
            assertThat(strikes(written)).isEmpty();

            try (Socket socket = place.network(1).address().connect()) {
                socket.getOutputStream()
                        .write(("GET /health?" + Workload.RESOURCE + " HTTP/1.0\r\n\r\n")
                                .getBytes(StandardCharsets.US_ASCII));
                assertThatThrownBy(() -> socket.getInputStream().readAllBytes())
                        .as("reset")
                        .isInstanceOf(IOException.class);
            }

            assertThat(strikes(written)).singleElement().satisfies(strike -> {
                assertThat(strike.kind()).isEqualTo(FaultKind.LOST_REPLY);
                assertThat(strike.over()).isNotEqualTo(Hold.NEVER);
            });
        }
    }

    private static Collection<History.Strike> strikes(Path written) throws IOException {
        return History.of(Files.readAllLines(written)).strikes();
    }
}
