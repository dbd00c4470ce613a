package dev.latchkey.cli;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.spi.WaiterListingStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A store in which any number of made-up resources are held, and which is as slow, or as broken, as a test wants: what no real
 * server can be made to be within a test. {@code plenty:10000} holds so many, {@code plenty:odd} those with odd names; {@code
 * plenty:3@/some/file} fails while there is such a file; {@code example://host7:6379} holds what pictures show.
 */
public final class PlentyStore
        implements PersistingStore, ListingStore, WaiterListingStore, ForceReleaseStore, StoreProvider {

    /** The scheme of its DSN. */
    public static final String DSN = "plenty:";

    /** Names and an owner with what a terminal or a page must not obey. */
    public static final List<String> ODD_NAMES = List.of(
            "\u001b]0;title\u0007\u001b[31mred",
            "<script>document.title='owned'</script>",
            "a\nb\rc\td",
            "left\u202etfel",
            "",
            "\"quoted\" & 'quoted'",
            "🔒 größer/../x",
            "\ud800 alone",
            "c1\u009b31m");

    /** Name, holders, seconds since when it is held, seconds of lease left, seconds since when each waits, owner. */
    private static final String EXAMPLE = """
            nightly-bill          1 125 25 118,12 host7/4711
            order-8841            1  41 19 40     host3/99
            catalog               3  12 18 -      host2/812
            import-prices         1 734 22 -      host5/1201
            report-2026-11        1 187 29 -      host5/1201
            mail-outbox           1   4 28 -      host1/77
            order-8790            1   3 27 -      host3/99
            order-8802            1   9 21 -      host4/310
            order-8815            1   1 29 -      host4/310
            search-index          1  58 22 -      host2/812
            session-cleanup       1  16 24 -      host6/2044
            stock-warehouse-east  1   6 24 -      host1/77
            stock-warehouse-west  1   2 28 -      host1/77
            """;

    private static final String OWNER = "orders\u001b[2J <b>host</b>/4711 worker-1";

    private final NavigableMap<String, ListedResource> resources = new ConcurrentSkipListMap<>();
    private final AtomicLong pages = new AtomicLong();
    private volatile Duration delay = Duration.ZERO;
    private volatile @Nullable String failure;
    private volatile boolean isDefective;
    private volatile @Nullable Path failsWhile;

    /** For the service loader. */
    public PlentyStore() {}

    /**
     * Creates a store.
     *
     * @param count how many are held; behind each hundredth somebody waits
     * @return the store
     */
    public static PlentyStore of(int count) {
        PlentyStore store = new PlentyStore();
        for (int i = 0; i < count; i++) {
            store.hold(String.format("job-%06d", i), 1_000L + i, i % 100 == 0 ? 1 + i / 100 % 5 : 0);
        }
        return store;
    }

    /**
     * Creates a store.
     *
     * @return one that holds {@link #ODD_NAMES}
     */
    public static PlentyStore odd() {
        PlentyStore store = new PlentyStore();
        for (String name : ODD_NAMES) {
            store.hold(name, 7, 2);
        }
        return store;
    }

    private static PlentyStore example() {
        PlentyStore store = new PlentyStore();
        EXAMPLE.lines().forEach(line -> {
            String[] of = line.split(" +", -1);
            int holders = Integer.parseInt(of[1]);
            Holder holder = new Holder(
                    holders == 1 ? LockMode.EXCLUSIVE : LockMode.SHARED,
                    holders == 1 ? OptionalLong.of(1_763_998_200_123_456L) : OptionalLong.empty(),
                    Optional.of(seconds(of[3])),
                    Optional.of(seconds(of[2])),
                    Optional.of(of[5]));
            List<QueuedWaiter> waiters = of[4].equals("-")
                    ? List.of()
                    : Stream.of(of[4].split(",", -1))
                            .map(PlentyStore::seconds)
                            .map(waited -> new QueuedWaiter(
                                    LockMode.EXCLUSIVE, Optional.of(waited), Optional.of("host9/1200")))
                            .toList();
            store.resources.put(
                    of[0], new ListedResource(of[0], Collections.nCopies(holders, holder), Optional.of(waiters)));
        });
        return store;
    }

    /** Half a second more, so that a screen that is drawn a little later is the same. */
    private static Duration seconds(String number) {
        return Duration.ofSeconds(Long.parseLong(number)).plusMillis(500);
    }

    /**
     * Holds a resource.
     *
     * @param resource its name
     * @param fencingToken that of the hold
     * @param waiters how many wait for it
     */
    public void hold(String resource, long fencingToken, int waiters) {
        List<QueuedWaiter> queue = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            queue.add(new QueuedWaiter(
                    LockMode.EXCLUSIVE, Optional.of(Duration.ofSeconds(61L - i)), Optional.of(OWNER + i)));
        }
        resources.put(
                resource,
                new ListedResource(
                        resource,
                        List.of(new Holder(
                                LockMode.EXCLUSIVE,
                                OptionalLong.of(fencingToken),
                                Optional.of(Duration.ofSeconds(25)),
                                Optional.of(Duration.ofSeconds(125)),
                                Optional.of(OWNER))),
                        Optional.of(queue)));
    }

    /**
     * Releases a resource.
     *
     * @param resource its name
     */
    public void free(String resource) {
        resources.remove(resource);
    }

    /**
     * Makes it slow.
     *
     * @param newDelay how long each page takes
     */
    public void answerAfter(Duration newDelay) {
        delay = newDelay;
    }

    /**
     * Breaks it.
     *
     * @param message what each call fails with; null: none fails
     */
    public void failWith(@Nullable String message) {
        failure = message;
    }

    /**
     * Has a defect, or has it no more.
     *
     * @param defective whether each call ends with an {@link AssertionError} or, to end a hold, a {@link NullPointerException}
     */
    public void beDefective(boolean defective) {
        isDefective = defective;
    }

    /**
     * Counts pages.
     *
     * @return how many were asked for
     */
    public long pages() {
        return pages.get();
    }

    @Override
    public Set<String> schemes() {
        return Set.of("plenty", "example");
    }

    @Override
    public PersistingStore open(String dsn) {
        if (dsn.startsWith("example:")) {
            return example();
        }
        String what = dsn.substring(DSN.length());
        if (what.equals("odd")) {
            return odd();
        }
        int end = what.indexOf('@');
        PlentyStore store = of(Integer.parseInt(end < 0 ? what : what.substring(0, end)));
        store.failsWhile = end < 0 ? null : Path.of(what.substring(end + 1));
        return store;
    }

    @Override
    public ResourcePage list(String prefix, Optional<String> after, int limit) {
        pages.incrementAndGet();
        answer();
        if (isDefective) {
            throw new AssertionError("a defect of the store");
        }
        List<ListedResource> page = new ArrayList<>();
        for (ListedResource resource :
                resources.tailMap(after.orElse(prefix), after.isEmpty()).values()) {
            if (!resource.resource().startsWith(prefix)) {
                break;
            }
            if (page.size() == limit) {
                return new ResourcePage(page, Optional.of(page.get(limit - 1).resource()));
            }
            page.add(resource);
        }
        return new ResourcePage(page, Optional.empty());
    }

    private void answer() {
        long began = System.nanoTime();
        long nanos = delay.toNanos();
        // It may return for no reason. An interrupt ends it.
        while (System.nanoTime() - began < nanos && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(nanos - (System.nanoTime() - began));
        }
        Path file = failsWhile;
        String message = file != null && Files.exists(file) ? "away: redis://me:hidden-word@host" : failure;
        if (message != null) {
            throw new LockStorageException("", message, null);
        }
    }

    @Override
    public List<Holder> holders(String resource) {
        return Optional.ofNullable(resources.get(resource))
                .map(ListedResource::holders)
                .orElse(List.of());
    }

    @Override
    public List<QueuedWaiter> waiters(String resource) {
        return Optional.ofNullable(resources.get(resource))
                .flatMap(ListedResource::waiters)
                .orElse(List.of());
    }

    @Override
    public boolean forceRelease(String resource, long fencingToken) {
        answer();
        if (isDefective) {
            throw new NullPointerException("a defect of the store");
        }
        boolean isHeld = holders(resource).stream()
                .anyMatch(holder -> holder.fencingToken().equals(OptionalLong.of(fencingToken)));
        return isHeld && resources.remove(resource) != null;
    }

    @Override
    public Response save(Request request) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean delete(Key key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        throw new UnsupportedOperationException();
    }
}
