package dev.latchkey.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.Response;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** For pages that ask again and again. */
class FeedTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** Whoever is late by more is told everything: there is a second version meanwhile. */
    private static final Duration INTERVAL = Duration.ofSeconds(5);

    private final LockFactory locks = LockFactory.connect("in-memory");
    private final Feed feed = new Feed(locks, "", INTERVAL);

    @AfterEach
    void close() {
        feed.close();
        locks.close();
    }

    @Test
    void givenNothingIsKnown_whenAskedAgain_thenEverythingAndThenWhatHasChanged() throws Exception {
        Lock first = held("first");

        String all = json(feed.since("", LIMIT));
        Lock unused = held("second");
        String added = next(all);
        String last = added;
        // A reading that is late has other times for the first one, and the reading after it has the right ones again.
        for (int i = 0; i < 2 && last.contains("first"); i++) {
            Lock unusedMore = held("more-" + i);
            last = next(last);
        }
        assertThat(first.release()).isTrue();
        String released = next(last);

        assertThat(all).contains("\"event\":\"all\"", "\"name\":\"first\"");
        assertThat(added).contains("\"event\":\"change\"", "\"name\":\"second\"");
        assertThat(last).contains("\"event\":\"change\"").doesNotContain("first");
        assertThat(released).contains("\"event\":\"change\"", "\"gone\":[\"first\"]");
    }

    @Test
    void givenTheVersionOfAnotherFeed_whenAsked_thenEverything() throws Exception {
        Lock unused = held("x");
        String all = json(feed.since("", LIMIT));
        try (Feed restarted = new Feed(locks, "", INTERVAL)) {
            String first = json(restarted.since("", LIMIT));
            assertThat(version(first)).isNotEqualTo(version(all));

            assertThat(json(restarted.since(version(all), LIMIT))).contains("\"event\":\"all\"", "\"name\":\"x\"");
        }
    }

    @Test
    void givenNoTimeToWait_whenNothingIsReadYet_thenNothingIsTold() throws Exception {
        CountDownLatch mayAnswer = new CountDownLatch(1);
        try (LockFactory slow = new LockFactory(new SlowStore(mayAnswer));
                Feed unread = new Feed(slow, "", INTERVAL)) {
            assertThat(json(unread.since("", Duration.ZERO))).contains("\"event\":\"same\"");

            mayAnswer.countDown();
            assertThat(json(unread.since("", LIMIT))).contains("\"event\":\"all\"");
        }
    }

    @Test
    void givenKey_whenHeld_thenItsTokenIsNotTold() throws Exception {
        Lock lock = held("secret");

        String all = json(feed.since("", LIMIT));

        assertThat(all).contains("\"token\":\"" + lock.fencingToken().orElseThrow() + "\"");
        assertThat(all).doesNotContain(lock.key().token());
    }

    @Test
    void givenAStoreThatCannotList_whenAsked_thenTold() throws Exception {
        try (LockFactory silent = new LockFactory(new SilentStore());
                Feed nothing = new Feed(silent, "", INTERVAL)) {
            assertThat(json(nothing.since("", LIMIT))).contains("\"trouble\":\"this store cannot list what is held\"");
        }
    }

    private Lock held(String resource) {
        Lock lock = locks.createLock(resource, Duration.ofMinutes(5));
        assertThat(lock.tryAcquire()).isTrue();
        return lock;
    }

    /** What comes after a message, other than that nothing has changed. */
    private String next(String before) throws Exception {
        String version = version(before);
        while (true) {
            String json = json(feed.since(version, LIMIT));
            if (!json.contains("\"event\":\"same\"") && !json.contains("\"set\":[],\"gone\":[]")) {
                return json;
            }
            version = version(json);
        }
    }

    private static String version(String json) {
        return json.replaceAll(".*\"version\":\"([^\"]*)\".*", "$1");
    }

    private static String json(Message message) throws IOException {
        try (InputStream in = message.json()) {
            byte[] json = in.readAllBytes();
            assertThat(json).hasSize((int) message.length());
            return new String(json, StandardCharsets.UTF_8);
        }
    }

    /** Holds nothing, which it lists when it may. */
    private static final class SlowStore extends SilentStore implements ListingStore {

        private final CountDownLatch mayAnswer;

        private SlowStore(CountDownLatch mayAnswer) {
            this.mayAnswer = mayAnswer;
        }

        @Override
        public ResourcePage list(String prefix, Optional<String> after, int limit) {
            try {
                mayAnswer.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return new ResourcePage(List.of(), Optional.empty());
        }

        @Override
        public List<Holder> holders(String resource) {
            return List.of();
        }
    }

    /** Knows nobody. */
    private static class SilentStore implements PersistingStore {

        @Override
        public Response save(Request request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean delete(Key key) {
            return false;
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return Optional.empty();
        }
    }
}
