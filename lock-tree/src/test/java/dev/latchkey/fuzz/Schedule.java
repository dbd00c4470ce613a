package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockMode;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One schedule: a few Locks of one or two factories, a few threads that use them, and what must hold after each step. */
final class Schedule implements World.Rules, Border.Listener {

    private static final long[] TTLS = {100, 1_000, 5_000};

    private final World world;
    private final InMemoryStore store = new InMemoryStore();
    private final List<Subject.Place> places = new ArrayList<>();
    private final List<Subject> subjects = new ArrayList<>();
    private final List<Fiber> users = new ArrayList<>();
    private final Map<String, Long> tokens = new HashMap<>();
    private final Set<String> cut = new HashSet<>();

    /** Tokens whose hold may have been promoted by a request that came late. */
    private final Set<String> takenLate = new HashSet<>();

    private final Operations operations;
    private final int resources;
    private int left;
    private int closed;

    Schedule(World world) {
        this.world = world;
        this.resources = world.oneIn(4) ? 2 : 1;
        int faultIn = world.oneIn(3) ? 0 : 2 + world.draw(6);
        boolean blocks = !world.oneIn(3);
        int factories = 1 + world.draw(2);
        for (int i = 0; i < factories; i++) {
            places.add(new Subject.Place(new Border(world, store, this, blocks, faultIn)));
        }
        int locks = 2 + world.draw(2);
        for (int i = 0; i < locks; i++) {
            add();
        }
        int threads = 2 + world.draw(2);
        for (int i = 0; i < threads; i++) {
            users.add(world.addUser("thread " + (i + 1)));
        }
        this.left = 3 + world.draw(10);
        this.operations = new Operations(world, this);
    }

    private void add() {
        Subject.Place place = places.get(world.draw(places.size()));
        if (!subjects.isEmpty() && world.oneIn(6)) {
            Subject first = subjects.get(0);
            first.share();
            received(place, first.key()).share();
        } else {
            make(place, place.factory().lock("r" + world.draw(resources)), false);
        }
    }

    /** Makes a Lock for a key that was held elsewhere. */
    Subject received(Subject.Place place, Key key) {
        return make(place, place.factory().lock(key), true);
    }

    private Subject make(Subject.Place place, LockBuilder builder, boolean received) {
        long ttl = TTLS[world.draw(TTLS.length)];
        world.setLongestStep(ttl * 700_000);
        Duration lease = Duration.ofMillis(ttl);
        builder.ttl(lease);
        boolean renewed = world.oneIn(2);
        boolean heard = world.oneIn(2);
        boolean interrupts = world.oneIn(6);
        boolean bounded = world.oneIn(8);
        boolean minHeld = !bounded && world.oneIn(6);
        boolean autoReleased = received ? world.oneIn(4) : !world.oneIn(4);
        String name = "lock " + (char) ('A' + subjects.size());
        if (renewed) {
            builder.autoRefresh();
        }
        if (interrupts) {
            builder.interruptOnLoss();
        }
        if (bounded) {
            builder.maxHold(lease.multipliedBy(2));
        }
        if (minHeld) {
            builder.minHold(lease.dividedBy(2));
        }
        if (autoReleased) {
            builder.autoRelease();
        } else {
            builder.withoutAutoRelease();
        }
        Subject[] made = new Subject[1];
        if (heard) {
            builder.onLost(reason -> made[0].heard(reason));
        }
        Subject subject = new Subject(
                world,
                name,
                store,
                place,
                builder.create(),
                new Subject.Traits(
                        heard, interrupts, heard || renewed || interrupts || bounded, autoReleased, minHeld, received),
                cut,
                takenLate);
        made[0] = subject;
        subjects.add(subject);
        if (world.isTraced()) {
            world.note("   " + name + " of factory " + (places.indexOf(place) + 1) + ": "
                    + subject.key().resource() + (received ? " received" : "") + ", TTL " + ttl + " ms"
                    + (renewed ? ", renewed" : "") + (heard ? ", heard" : "") + (interrupts ? ", interrupting" : "")
                    + (bounded ? ", max hold" : "") + (minHeld ? ", min hold" : "")
                    + (autoReleased ? "" : ", not auto-released"));
        }
        return subject;
    }

    List<Subject> subjects() {
        return subjects;
    }

    List<Subject.Place> places() {
        return places;
    }

    List<Fiber> users() {
        return users;
    }

    void cut(String token) {
        cut.add(token);
    }

    @Override
    public boolean beginNext(Fiber user) {
        if (left == 0 || !users.contains(user)) {
            return false;
        }
        left--;
        user.add(operations.draw());
        return true;
    }

    @Override
    public boolean windUp() {
        left = 0;
        if (closed == places.size()) {
            return false;
        }
        Subject.Place place = places.get(closed++);
        Fiber closer = world.addUser("closer " + closed);
        closer.add(operations.closing(place));
        return true;
    }

    @Override
    public void check() {
        for (Subject subject : subjects) {
            subject.check();
        }
        for (int i = 0; i < subjects.size(); i++) {
            Subject one = subjects.get(i);
            if (one.believesExclusive()) {
                checkAlone(one);
                checkToken(one);
            }
        }
    }

    @Override
    public void checkTold() {
        subjects.forEach(Subject::checkAlarm);
        subjects.forEach(Subject::checkTold);
    }

    private void checkAlone(Subject one) {
        for (Subject other : subjects) {
            if (other != one && other.believes() && isRival(one.key(), other.key())) {
                throw one.wrong("it believes to hold exclusively, and so does " + other.name() + " to hold");
            }
        }
    }

    private static boolean isRival(Key one, Key other) {
        return one.resource().equals(other.resource()) && !one.equals(other);
    }

    private void checkToken(Subject one) {
        Key key = one.key();
        OptionalLong fence = key.held().map(Key.Held::fencingToken).orElse(OptionalLong.empty());
        if (key.held().map(Key.Held::mode).orElse(LockMode.SHARED) != LockMode.EXCLUSIVE || fence.isEmpty()) {
            throw one.wrong("it holds exclusively without a fencing token");
        }
        long before = tokens.getOrDefault(key.resource(), 0L);
        if (fence.getAsLong() < before) {
            throw one.wrong("its fencing token " + fence.getAsLong() + " is less than " + before + " of a hold before");
        }
        tokens.put(key.resource(), fence.getAsLong());
    }

    @Override
    public void sent(Border border, String operation, Key key) {
        if (operation.equals("delete")
                && subjects.stream()
                        .anyMatch(subject -> subject.isShared() && subject.key().equals(key))) {
            cut(key.token());
        }
        Subject.Call call = world.running().call();
        if (call != null) {
            call.subject().sent(operation, key);
        } else if (operation.startsWith("refresh") && world.running().isDaemon()) {
            renewed(border, operation, key);
        }
    }

    /** Which Lock is renewed is known if no other of its factory has the key. */
    private void renewed(Border border, String operation, Key key) {
        List<Subject> holders = subjects.stream()
                .filter(each -> each.place().border() == border && each.renews(key))
                .toList();
        if (holders.isEmpty()) {
            throw new Violation("what is not held is renewed: " + key);
        }
        if (holders.size() == 1) {
            holders.get(0).sent(operation, key);
        }
    }

    @Override
    public void follow() {
        subjects.forEach(Subject::follow);
    }

    @Override
    public void takenLate(Key key) {
        takenLate.add(key.token());
    }

    @Override
    public void answered(@Nullable Object answer) {
        for (Subject subject : subjects) {
            subject.answered(answer);
        }
    }
}
