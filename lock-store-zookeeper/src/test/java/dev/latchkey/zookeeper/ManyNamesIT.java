package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.spi.ListedResource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** More locks than a client reads the names of at once, if it is not told to. */
class ManyNamesIT extends BehindAProxy {

    private static final int MANY = 12_000;
    private static final int OF_A_BATCH = 500;

    ManyNamesIT() {
        super("?sessionTimeout=60s");
    }

    @Test
    @Tag("slow")
    void givenMoreNamesThanAClientReadsByDefault_whenListed_thenTheSessionOfTheHoldStaysConnected() throws Exception {
        Lock held = locks.createLock("held");
        assertThat(held.tryAcquire()).isTrue();
        for (int first = 0; first < MANY; first += OF_A_BATCH) {
            var unused = nodes.client()
                    .multi(IntStream.range(first, first + OF_A_BATCH)
                            .mapToObj(ManyNamesIT::container)
                            .toList());
        }
        List<WatchedEvent> events = new CopyOnWriteArrayList<>();
        store.sessions().forUse("held").client().register(events::add);

        List<ListedResource> listed = locks.list("held", Optional.empty(), 10).resources();

        assertThat(listed).extracting(ListedResource::resource).containsExactly("held");
        assertThat(events).isEmpty();
        assertThat(held.isAcquired()).isTrue();
    }

    private static Op container(int number) {
        return Op.create(
                String.format("%s/%0100d", ZooKeeperStore.DEFAULT_ROOT, number),
                new byte[0],
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                CreateMode.CONTAINER);
    }
}
