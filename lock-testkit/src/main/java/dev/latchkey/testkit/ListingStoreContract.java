package dev.latchkey.testkit;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.spi.SharedStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** People can list what is held, page by page, and nobody is disturbed by it: for a {@link ListingStore}. */
@ContractFor(ListingStore.class)
public interface ListingStoreContract extends StoreContract {

    /**
     * Returns texts that patterns and collations of some backend read as something else.
     *
     * @return what the names of resources start with
     */
    static Stream<String> prefixes() {
        return Stream.of(
                "plain",
                "100%",
                "a_b",
                "*",
                "a?b",
                "[a-z]",
                "back\\slash",
                "\\",
                "{brace}",
                "}",
                "=",
                "quote'\"",
                "a/b/../c",
                "line\nbreak",
                "Übung",
                "straße",
                "\uD83D\uDD12",
                "k".repeat(300));
    }

    /**
     * Returns how many resources the test of pages holds throughout. A store to which each hold is dear may say less.
     *
     * @return 500 unless overridden
     */
    default int listedResources() {
        return 500;
    }

    /**
     * Returns whether the store keeps the owner name of an exclusive holder, and when it was granted.
     *
     * @return true unless overridden
     */
    default boolean showsOwners() {
        return true;
    }

    @Test
    default void givenNothingIsHeld_whenListed_thenNothing(Fixture fixture) {
        ResourcePage page = fixture.store(ListingStore.class).list(fixture.resource(), Optional.empty(), 10);

        assertThat(page.resources()).isEmpty();
        assertThat(all(fixture, fixture.resource(), 10)).isEmpty();
    }

    @Test
    default void givenHeld_whenListed_thenItsNameAndItsHolder(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();

        List<ListedResource> listed = all(fixture, fixture.resource(), 10);

        assertThat(listed).singleElement().satisfies(resource -> {
            assertThat(resource.resource()).isEqualTo(fixture.resource());
            assertThat(resource.holders()).singleElement().satisfies(holder -> {
                assertThat(holder.mode()).isEqualTo(LockMode.EXCLUSIVE);
                assertThat(holder.fencingToken()).isEqualTo(lock.fencingToken());
            });
        });
        assertThat(listed.toString()).doesNotContain(lock.key().token());
        assertThat(lock.isAcquired()).isTrue();
    }

    /** A name may be anything; it is shown as it is. */
    @Test
    default void givenAnOwnerName_whenListed_thenItIsShownAsItIs(Fixture fixture) {
        if (!showsOwners()) {
            assertThatNoNameIsShownOfAnother(fixture);
            return;
        }
        String owner = "<script>alert('1')</script>\n%41|a:b \u00dcbung \uD83D\uDD12 ";
        Request request = new Request(
                fixture.key(), LockMode.EXCLUSIVE, Fixture.LONG_TTL, RetryIntent.ONCE, LeaseChange.EXTEND, owner);
        var unused = granted(fixture.store().save(request));

        // It may be written apart from the hold, and stand beside the names of other factories over the same store.
        Awaitility.await("the name of an owner")
                .atMost(TimeLimits.LIMIT)
                .until(() -> holders(fixture).stream()
                        .anyMatch(holder -> holder.description().orElse("").contains(owner)));
        assertThat(holders(fixture))
                .singleElement()
                .satisfies(holder ->
                        assertThat(holder.held().orElseThrow()).isBetween(Duration.ZERO, Duration.ofHours(1)));
    }

    /** Whatever a store shows of a holder, it is not what belongs to another one, and no token. */
    private static void assertThatNoNameIsShownOfAnother(Fixture fixture) {
        List<Key> keys = List.of(fixture.key(fixture.resource() + "-a"), fixture.key(fixture.resource() + "-b"));
        for (Key key : keys) {
            Request request = new Request(
                    key,
                    LockMode.EXCLUSIVE,
                    Fixture.LONG_TTL,
                    RetryIntent.ONCE,
                    LeaseChange.EXTEND,
                    "owner of " + key.resource());
            var unused = granted(fixture.store().save(request));
        }

        List<ListedResource> listed = all(fixture, fixture.resource(), 10);
        assertThat(names(listed))
                .containsExactlyInAnyOrder(keys.get(0).resource(), keys.get(1).resource());
        assertThat(listed).allSatisfy(one -> {
            Holder holder = one.holders().get(0);
            // A store may show another name, such as that of the process.
            String ofOthers = holder.description().orElse("").replace("owner of " + one.resource(), "");
            assertThat(ofOthers).doesNotContain("owner of ");
            assertThat(holder.held().orElse(Duration.ZERO)).isBetween(Duration.ZERO, Duration.ofHours(1));
        });
        assertThat(listed.toString())
                .doesNotContain(keys.get(0).token())
                .doesNotContain(keys.get(1).token());
    }

    @Test
    default void givenReleased_whenListed_thenNothing(Fixture fixture) {
        Lock lock = fixture.lock();
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();

        assertThat(all(fixture, fixture.resource(), 10)).isEmpty();
    }

    /** It may stay in the store until somebody removes it. Where there are no leases, it is held whatever its TTL is. */
    @Test
    default void givenItsLeaseIsOver_whenListed_thenNothing(Fixture fixture) {
        boolean expires = fixture.store().capability(ExpiringStore.class).isPresent();
        Key key = fixture.key();
        var unused = granted(fixture.store().save(exclusive(key, shortTtl())));

        Awaitility.await("the end of a lease")
                .atMost(TimeLimits.LIMIT)
                .until(() -> fixture.store().find(key).isPresent() != expires);

        assertThat(all(fixture, fixture.resource(), 10)).hasSize(expires ? 0 : 1);
    }

    @Test
    default void givenReaders_whenListed_thenEachOfThemInOneEntry(Fixture fixture) {
        boolean shares = fixture.store().capability(SharedStore.class).isPresent();
        assertThat(fixture.lock().tryAcquireShared()).isTrue();
        assertThat(fixture.lock().tryAcquireShared()).isEqualTo(shares);

        assertThat(all(fixture, fixture.resource(), 10))
                .singleElement()
                .satisfies(resource -> assertThat(resource.holders())
                        .hasSize(shares ? 2 : 1)
                        .extracting(Holder::mode)
                        .containsOnly(shares ? LockMode.SHARED : LockMode.EXCLUSIVE));
    }

    /** The prefix is text: no pattern, and no other letter counts as the same. */
    @ParameterizedTest
    @MethodSource("prefixes")
    default void givenAPrefixOfOddCharacters_whenListed_thenItIsComparedByCharacter(String odd, Fixture fixture) {
        String prefix = fixture.resource() + odd;
        for (String name : List.of(prefix, prefix + "x", prefix + "\uD83D\uDD12")) {
            var unused = granted(fixture.store().save(exclusive(fixture.key(name))));
        }
        for (String other : List.of(
                fixture.resource() + "abc" + odd,
                fixture.resource() + "100x",
                fixture.resource() + "axb",
                fixture.resource() + "acb",
                fixture.resource() + "z",
                fixture.resource() + "übung",
                fixture.resource() + "strasse",
                fixture.resource() + "\uD83D\uDD13",
                fixture.resource() + "PLAIN")) {
            var unused = granted(fixture.store().save(exclusive(fixture.key(other))));
        }

        assertThat(names(all(fixture, prefix, 2)))
                .containsExactlyInAnyOrder(prefix, prefix + "x", prefix + "\uD83D\uDD12");
    }

    /** A store that writes names as bytes would list those that begin with a question mark instead. */
    @Test
    default void givenAPrefixThatEndsWithinACharacter_whenListed_thenIllegalArgument(Fixture fixture) {
        assertThatThrownBy(() -> fixture.locks().list(fixture.resource() + "\uD83D", Optional.empty(), 10))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("surrogate");
    }

    @Test
    default void givenPages_whenListed_thenEachIsAsLongAsAskedAtMostAndNothingIsDoubled(Fixture fixture) {
        List<String> held = hold(fixture, "-", 25);

        List<String> listed = new ArrayList<>();
        Optional<String> after = Optional.empty();
        do {
            ResourcePage page = fixture.store(ListingStore.class).list(fixture.resource(), after, 7);
            assertThat(page.resources()).hasSizeLessThanOrEqualTo(7);
            listed.addAll(names(page.resources()));
            after = page.next();
        } while (after.isPresent());

        assertThat(listed).containsExactlyInAnyOrderElementsOf(held);
    }

    /** Nothing that is held throughout is missed or doubled, whatever comes and goes around it. */
    @Test
    @Tag("slow")
    default void givenOthersComeAndGo_whenListed_thenWhatStaysIsListedExactlyOnce(Fixture fixture) throws Exception {
        List<String> held = hold(fixture, "-stays-", listedResources());
        AtomicBoolean ends = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        BackgroundCall<Integer> churn = fixture.start(() -> {
            int changes = 0;
            while (!ends.get()) {
                Key key = fixture.key(fixture.resource() + "-" + "abcstz".charAt(changes % 6) + changes % 100);
                var unused = granted(fixture.store().save(exclusive(key)));
                assertThat(fixture.store().delete(key)).isTrue();
                changes++;
                begun.countDown();
            }
            return changes;
        });
        try {
            begun.await();
            for (int round = 0; round < 5; round++) {
                List<String> listed = names(all(fixture, fixture.resource(), 50));
                assertThat(listed).doesNotHaveDuplicates().containsAll(held);
            }
        } finally {
            ends.set(true);
        }
        assertThat(churn.result()).isPositive();
    }

    @Test
    default void givenAnotherStore_whenListed_thenNothingOfThisOne(Fixture fixture) {
        assertThat(fixture.lock().tryAcquire()).isTrue();

        ListingStore other =
                fixture.separateStore().capability(ListingStore.class).orElseThrow();

        assertThat(other.list(fixture.resource(), Optional.empty(), 10).resources())
                .isEmpty();
    }

    private static List<Holder> holders(Fixture fixture) {
        return all(fixture, fixture.resource(), 10).stream()
                .flatMap(resource -> resource.holders().stream())
                .toList();
    }

    private static List<String> hold(Fixture fixture, String infix, int count) {
        List<String> held = IntStream.range(0, count)
                .mapToObj(i -> fixture.resource() + infix + i)
                .toList();
        for (String name : held) {
            Request request = exclusive(fixture.key(name), Duration.ofMinutes(10));
            var unused = granted(fixture.store().save(request));
        }
        return held;
    }

    private static List<ListedResource> all(Fixture fixture, String prefix, int limit) {
        List<ListedResource> listed = new ArrayList<>();
        Optional<String> after = Optional.empty();
        do {
            ResourcePage page = fixture.store(ListingStore.class).list(prefix, after, limit);
            listed.addAll(page.resources());
            after = page.next();
        } while (after.isPresent());
        return listed;
    }

    private static List<String> names(List<ListedResource> resources) {
        return resources.stream().map(ListedResource::resource).toList();
    }
}
