package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.leader.LeaderElection;
import dev.latchkey.leader.Term;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What the change of the leader costs the server, counted by the server. */
class LeaderElectionCostIT extends WithAStore {

    private static final String NAME = "dispatcher";

    private final BlockingQueue<Term> terms = new LinkedBlockingQueue<>();

    /** Who resigns does not stand again while it is counted. */
    private LeaderElection stand(LockFactory factory) {
        return LeaderElection.builder(factory, NAME)
                .ttl(Fixture.LONG_TTL)
                .backoff(Duration.ofHours(1), Duration.ofHours(1))
                .onElected(term -> {
                    terms.add(term);
                    new CountDownLatch(1).await();
                })
                .start();
    }

    private Term nextTerm() throws InterruptedException {
        return Optional.ofNullable(terms.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .orElseThrow(() -> new AssertionError("nobody was elected"));
    }

    @Test
    void givenAnotherStoreFollows_whenTheLeaderResigns_thenOneCommandIsTheReleaseAndTheGrant() throws Exception {
        try (RedisStore other = open(PatientDsn.redis(server.dsn()));
                LockFactory others = new LockFactory(other)) {
            // The server knows the scripts from now on.
            keys.subscribe(locks.createLock("held for a while", Fixture.LONG_TTL));
            keys.subscribe(others.createLock("held for a while", Fixture.LONG_TTL));
            try (LeaderElection ann = stand(locks)) {
                Term first = nextTerm();
                long start = System.nanoTime();
                try (LeaderElection bob = stand(others)) {
                    Awaitility.await().until(() -> keys.listening().size() == 1);
                    Awaitility.await().until(() -> locks.waiters(NAME).size() == 1);
                    keys.resetCommands();

                    assertThat(ann.resign()).isTrue();

                    assertThat(nextTerm().number()).isGreaterThan(first.number());
                    assertThat(bob.isLeader()).isTrue();
                    Map<String, Long> requests = requests();
                    assertThat(requests).containsOnlyKeys("evalsha", "publish").containsEntry("publish", 1L);
                    assertThat(requests.get("evalsha")).isBetween(1L, 1 + Looks.since(start));
                }
            }
        }
    }

    /** What clients have sent, and what the script has sent to other clients: not what it has read and written. */
    private Map<String, Long> requests() {
        return keys.commands().entrySet().stream()
                .filter(command -> command.getKey().matches("eval.*|s?publish|s?subscribe"))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }
}
