package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Requests;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

/** Many insert one document at once. */
class RaceIT {

    private static final int THREADS = 16;
    private static final int ROUNDS = 100;

    @Test
    void givenNoDocument_whenManyAcquireAtOnce_thenExactlyOneWinsInEachRound() throws Exception {
        String dsn = MongoDbServer.sharedDsn("race_" + System.nanoTime());
        CyclicBarrier start = new CyclicBarrier(THREADS);
        List<BackgroundCall<List<Integer>>> calls = new ArrayList<>();
        try (MongoDbStore one = MongoDbStore.builder(dsn).build();
                MongoDbStore other = MongoDbStore.builder(dsn).build()) {
            for (int i = 0; i < THREADS; i++) {
                MongoDbStore store = i % 2 == 0 ? one : other;
                calls.add(BackgroundCall.start(() -> roundsWon(store, start)));
            }

            List<Integer> won = new ArrayList<>();
            for (BackgroundCall<List<Integer>> call : calls) {
                won.addAll(call.result());
            }

            assertThat(won).doesNotHaveDuplicates().hasSize(ROUNDS);
        }
    }

    private static List<Integer> roundsWon(MongoDbStore store, CyclicBarrier start) throws Exception {
        List<Integer> won = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            start.await();
            Response response = store.save(Requests.exclusive(Key.of("round-" + i)));
            if (response instanceof Response.Granted) {
                won.add(i);
            } else {
                assertThat(response).isInstanceOf(Response.Conflicted.class);
            }
        }
        return won;
    }
}
