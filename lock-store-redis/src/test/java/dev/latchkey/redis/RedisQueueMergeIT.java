package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.servers.RedisConnection;
import dev.latchkey.spi.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a release makes of the waiter that it takes along and the queue on the server, each script sent by hand. */
class RedisQueueMergeIT extends WithAStore {

    private static final NotificationChannel.Push LISTENS = NotificationChannel.Push.PUBLISH;
    private static final int SEEDS = 40;
    private static final int STEPS = 100;

    private final String resource = UUID.randomUUID().toString();
    private final String state = "lock:{" + resource + "}";
    private final Requests requests = new Requests(new KeyNames("lock:"), Duration.ofMinutes(1), "1");

    private RedisConnection listener;

    /** Whoever does not listen counts as gone. */
    @BeforeEach
    void listen() {
        listener = server.connect();
        listener.call("SUBSCRIBE", "lock:in:1");
        listener.call("SUBSCRIBE", "lock:in:2");
        listener.call("SUBSCRIBE", "lock:in:3");
    }

    @AfterEach
    void giveMemory() {
        server.call("CONFIG", "SET", "maxmemory", "0");
        listener.close();
    }

    /** One that waits, of a store whose inbox is the part of the attempt before the dot. */
    private record Waiter(Request request, String attempt, long ticket) {

        String inbox() {
            return attempt.substring(0, attempt.indexOf('.'));
        }

        long number() {
            return Long.parseLong(attempt.substring(attempt.indexOf('.') + 1));
        }
    }

    /**
     * Stores take waiters along or not, which came just now or a while ago; others ask themselves, or give up. Whoever came first is
     * granted the lock, whoever is granted it and why, and nobody else.
     */
    @Test
    void givenRandomArrivals_whenReleased_thenWhoeverCameFirstIsNext() {
        for (int seed = 1; seed <= SEEDS; seed++) {
            new Run(seed).go();
            assertThat(store.holders(resource)).as("seed %d", seed).isEmpty();
            assertThat(keys.waiting()).as("seed %d", seed).isEmpty();
        }
    }

    /** One run: what the server should know. */
    private final class Run {

        private final Random random;
        private final List<Waiter> queue = new ArrayList<>();
        private final List<Waiter> atHome = new ArrayList<>();
        private @Nullable Waiter holder;
        private long attempts;
        private final String seed;

        Run(int seed) {
            random = new Random(seed);
            this.seed = "seed " + seed;
            enqueue(arriving());
        }

        void go() {
            for (int i = 0; i < STEPS; i++) {
                switch (random.nextInt(6)) {
                    case 0, 1 -> atHome.add(arriving());
                    case 2 -> enqueue(arriving());
                    case 3 -> askFromHome();
                    case 4 -> cancel();
                    default -> release();
                }
            }
            while (holder != null) {
                release();
            }
            while (!atHome.isEmpty()) {
                enqueue(atHome.remove(0));
                while (holder != null) {
                    release();
                }
            }
        }

        /** Of one of three stores. Some came so long ago that they count as heard of only because somebody took them along. */
        private Waiter arriving() {
            attempts++;
            long age = random.nextInt(4) == 0 ? random.nextInt(20_000) * 1_000L : (1 + random.nextInt(100)) * 1_000L;
            // No two at one time.
            long ticket = (micros() - age) / 1_000 * 1_000 + attempts;
            return new Waiter(exclusive(Key.of(resource), LONG_TTL), (1 + random.nextInt(3)) + "." + attempts, ticket);
        }

        private void enqueue(Waiter waiter) {
            List<Long> reply = acquired(waiter);
            if (holder == null) {
                assertThat(reply).as(seed).hasSize(1);
                holder = waiter;
            } else {
                assertThat(reply.get(0)).as(seed).isZero();
                queue.add(waiter);
            }
        }

        private void askFromHome() {
            if (!atHome.isEmpty()) {
                enqueue(atHome.remove(random.nextInt(atHome.size())));
            }
        }

        private void cancel() {
            if (!queue.isEmpty()) {
                Waiter waiter = queue.remove(random.nextInt(queue.size()));
                assertThat(ask(requests.cancel(waiter.request(), waiter.attempt())))
                        .as(seed)
                        .containsExactly(1L);
            }
        }

        private void release() {
            Waiter releasing = holder;
            if (releasing == null) {
                return;
            }
            String inbox = releasing.inbox();
            Waiter along = atHome.stream()
                    .filter(waiter -> waiter.inbox().equals(inbox) && random.nextInt(4) > 0)
                    .min(Comparator.comparingLong(Waiter::ticket))
                    .orElse(null);
            List<Long> reply =
                    ask(along == null ? requests.handOff(releasing.request().key(), inbox) : handOff(releasing, along));
            if (along != null) {
                atHome.remove(along);
                queue.add(along);
            }
            Waiter next =
                    queue.stream().min(Comparator.comparingLong(Waiter::ticket)).orElse(null);
            queue.remove(next);
            holder = next;
            assertThat(reply.get(0)).as(seed).isEqualTo(1);
            assertThat(numbers(reply)).as(seed).isEqualTo(expected(inbox, next, along));
            assertThat(store.holders(resource)).as(seed).hasSize(next == null ? 0 : 1);
            if (next != null) {
                assertThat(store.find(next.request().key())).as(seed).isPresent();
            }
            assertThat(keys.waiting()).as(seed).hasSize(queue.size());
        }

        /** Who is in the reply: granted with a token, or in the queue with 0 for it. */
        private List<String> expected(String inbox, @Nullable Waiter next, @Nullable Waiter along) {
            List<String> all = new ArrayList<>();
            if (next != null && next.inbox().equals(inbox)) {
                all.add(next.number() + " granted");
            }
            if (along != null && !along.equals(next)) {
                all.add(along.number() + " queued");
            }
            return all;
        }

        private static List<String> numbers(List<Long> reply) {
            List<String> all = new ArrayList<>();
            for (int i = 1; i < reply.size(); i += 4) {
                all.add(reply.get(i) + (reply.get(i + 3) > 0 ? " granted" : " queued"));
            }
            return all;
        }
    }

    /** As a store does: the token of the one taken along grows, and its lease is its own. */
    @Test
    void givenNobodyInTheQueue_whenOneIsTakenAlong_thenItHoldsForItsOwnTtlWithAGreaterToken() {
        Waiter holder = new Waiter(exclusive(Key.of(resource)), "1.1", 0);
        long token = acquired(holder).get(0);
        Waiter next = new Waiter(exclusive(Key.of(resource), LONG_TTL), "1.2", micros());

        List<Long> reply = ask(handOff(holder, next));

        assertThat(reply).hasSize(5);
        assertThat(reply.get(1)).isEqualTo(2);
        assertThat(reply.get(4)).isGreaterThan(token);
        assertThat(store.find(next.request().key()).orElseThrow().lease().ttl())
                .isGreaterThan(LONG_TTL.minusMinutes(1));
        assertThat(ask(requests.cancel(next.request(), next.attempt())))
                .as("what nobody has heard of is given back")
                .containsExactly(2L);
        assertThat(keys.held()).isEmpty();
    }

    @Test
    void givenAReaderHoldsAsWell_whenOneIsTakenAlong_thenItIsInTheQueue() {
        Waiter reader = new Waiter(shared(Key.of(resource), LONG_TTL), "1.1", 0);
        Key other = Key.of(resource);
        acquired(reader);
        store.save(shared(other, LONG_TTL));
        Waiter next = new Waiter(exclusive(Key.of(resource), LONG_TTL), "1.2", micros());

        List<Long> reply = ask(handOff(reader, next));

        assertThat(reply).hasSize(5);
        assertThat(reply.get(1)).isEqualTo(2);
        assertThat(reply.get(3)).as("ms until the leases end").isBetween(1L, LONG_TTL.toMillis());
        assertThat(reply.get(4)).isZero();
        assertThat(keys.waiting()).hasSize(1);
        assertThat(store.delete(other)).isTrue();
        assertThat(store.find(next.request().key())).isPresent();
    }

    /** Its clock may be that of another server, which was ahead. */
    @Test
    void givenATimeThatIsNotKnownOrToCome_whenOneIsTakenAlong_thenItCameNow() {
        for (long ticket : new long[] {0, micros() + 3_600_000_000L}) {
            Waiter holder = new Waiter(exclusive(Key.of(resource)), "1.1", 0);
            acquired(holder);
            Waiter before = new Waiter(exclusive(Key.of(resource)), "2.1", 0);
            acquired(before);
            Waiter next = new Waiter(exclusive(Key.of(resource)), "1.2", ticket);

            ask(handOff(holder, next));

            assertThat(store.find(before.request().key())).isPresent();
            Waiter after = new Waiter(exclusive(Key.of(resource)), "2.2", 0);
            acquired(after);
            ask(requests.handOff(before.request().key(), "2"));
            assertThat(store.find(next.request().key())).isPresent();
            ask(requests.handOff(next.request().key(), "1"));
            ask(requests.handOff(after.request().key(), "2"));
            assertThat(keys.held()).isEmpty();
        }
    }

    @Test
    void givenTheHoldIsGone_whenReleased_thenTheOneTakenAlongIsLeftAlone() {
        Waiter holder = new Waiter(exclusive(Key.of(resource)), "1.1", 0);
        Waiter next = new Waiter(exclusive(Key.of(resource)), "1.2", micros());

        assertThat(ask(handOff(holder, next))).containsExactly(0L);

        assertThat(keys.held()).isEmpty();
        assertThat(keys.waiting()).isEmpty();
    }

    /** A grant cannot be written then, and neither can a place; a release can. */
    @Test
    void givenTheServerIsOutOfMemory_whenOneIsTakenAlong_thenItIsReleasedAndNobodyIsGrantedIt() {
        for (boolean isContended : new boolean[] {false, true}) {
            Waiter holder = new Waiter(exclusive(Key.of(resource)), "1.1", 0);
            acquired(holder);
            Waiter before = new Waiter(exclusive(Key.of(resource)), "2.1", 0);
            if (isContended) {
                acquired(before);
            }
            Waiter next = new Waiter(exclusive(Key.of(resource)), "1.2", micros());
            server.call("CONFIG", "SET", "maxmemory", "1");

            assertThat(ask(handOff(holder, next))).containsExactly(1L);

            server.call("CONFIG", "SET", "maxmemory", "0");
            assertThat(store.find(holder.request().key())).isEmpty();
            assertThat(store.find(next.request().key())).isEmpty();
            assertThat(keys.waiting()).isEmpty();
            assertThat(store.find(before.request().key()).isPresent()).isEqualTo(isContended);
            ask(requests.handOff(before.request().key(), "2"));
        }
    }

    /** The numbers of a resource are used up: whoever asks is told so. */
    @Test
    void givenTheLastToken_whenOneIsTakenAlong_thenItIsNotGranted() {
        Waiter holder = new Waiter(exclusive(Key.of(resource)), "1.1", 0);
        acquired(holder);
        String last = server.text("GET", state).replaceFirst("^(L1X0 )\\d{16}", "$1" + "9007199254740991");
        server.call("SET", state, last, "KEEPTTL");
        Waiter next = new Waiter(exclusive(Key.of(resource)), "1.2", micros());

        assertThat(ask(handOff(holder, next))).containsExactly(1L);

        assertThat(keys.held()).isEmpty();
        assertThat(keys.waiting()).isEmpty();
    }

    private ScriptRequest handOff(Waiter holder, Waiter next) {
        String member = Requests.member(next.request(), next.attempt(), LISTENS);
        return requests.handOff(holder.request().key(), holder.inbox(), member, next.ticket());
    }

    private static long micros() {
        List<?> time = (List<?>) Objects.requireNonNull(server.call("TIME"));
        return Long.parseLong(String.valueOf(time.get(0))) * 1_000_000 + Long.parseLong(String.valueOf(time.get(1)));
    }

    private List<Long> acquired(Waiter waiter) {
        return ask(requests.acquire(waiter.request(), waiter.attempt(), waiter.ticket(), LISTENS));
    }

    private static List<Long> ask(ScriptRequest request) {
        Stream<byte[]> words = Stream.of(
                        Stream.of(
                                Requests.ascii("EVAL"),
                                request.script().source(),
                                Requests.ascii(Integer.toString(request.keys().size()))),
                        request.keys().stream(),
                        request.args().stream())
                .flatMap(Function.identity());
        Object reply = Objects.requireNonNull(server.call(
                words.map(word -> new String(word, StandardCharsets.UTF_8)).toArray(String[]::new)));
        return reply instanceof List<?> several
                ? several.stream().map(Long.class::cast).toList()
                : List.of((Long) reply);
    }
}
