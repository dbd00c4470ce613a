package dev.latchkey.redis;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.ResourcePage;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Shows people who holds and who waits. The details of a page are asked for together. */
final class Inspection {

    private static final int AT_ONCE = 500;
    private static final int FIRST_HOLDER = 2;
    private static final int NUMBERS_OF_ONE = 3;

    private final ScriptRunner server;
    private final Requests requests;
    private final Keyspace keyspace;

    Inspection(ScriptRunner server, Requests requests, Keyspace keyspace) {
        this.server = server;
        this.requests = requests;
        this.keyspace = keyspace;
    }

    List<Holder> holders(String resource) {
        Seen seen = new Seen(resource, server.ask(requests.inspect(resource)));
        return seen.holders(keyspace.owners(resource, inboxes(seen.holderNumbers())));
    }

    List<QueuedWaiter> waiters(String resource) {
        Seen seen = new Seen(resource, server.ask(requests.inspect(resource)));
        return seen.waiters(keyspace.owners(resource, inboxes(seen.waiterNumbers())));
    }

    ResourcePage list(String prefix, Optional<String> after, int limit) {
        SortedSet<String> found = keyspace.resources(prefix, after, limit + 1);
        List<String> page = found.stream().limit(limit).toList();
        List<Seen> all = new ArrayList<>();
        for (int from = 0; from < page.size(); from += AT_ONCE) {
            List<ScriptRunner.Sent> sent = page.subList(from, Math.min(page.size(), from + AT_ONCE)).stream()
                    .map(name -> server.send(requests.inspectListed(name)))
                    .toList();
            sent.forEach(one -> all.add(new Seen(one.request().resource(), server.answer(one))));
        }
        Map<Long, String> owners = keyspace.owners(
                prefix,
                inboxes(all.stream().flatMap(seen -> Stream.concat(seen.holderNumbers(), seen.waiterNumbers()))));
        List<ListedResource> listed = all.stream()
                .filter(seen -> seen.reply().get(1) > 0)
                .map(seen ->
                        new ListedResource(seen.resource(), seen.holders(owners), Optional.of(seen.waiters(owners))))
                .toList();
        return new ResourcePage(listed, found.size() > limit ? Optional.of(page.get(limit - 1)) : Optional.empty());
    }

    private static Set<Long> inboxes(Stream<List<Long>> shown) {
        return shown.map(numbers -> numbers.get(2)).filter(inbox -> inbox > 0).collect(Collectors.toSet());
    }

    /** The reply to {@code inspect.lua}. */
    private record Seen(String resource, List<Long> reply) {

        Stream<List<Long>> holderNumbers() {
            return threes(FIRST_HOLDER, firstWaiter());
        }

        Stream<List<Long>> waiterNumbers() {
            return threes(firstWaiter(), reply.size());
        }

        List<Holder> holders(Map<Long, String> owners) {
            long fence = reply.get(0);
            LockMode mode = fence == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE;
            return holderNumbers()
                    .map(numbers -> new Holder(
                            mode,
                            ReplyParser.token(mode, fence),
                            Optional.of(micros(numbers.get(0))),
                            Optional.of(micros(numbers.get(1))),
                            Optional.ofNullable(owners.get(numbers.get(2)))))
                    .toList();
        }

        List<QueuedWaiter> waiters(Map<Long, String> owners) {
            return waiterNumbers()
                    .map(numbers -> new QueuedWaiter(
                            numbers.get(0) == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE,
                            Optional.of(numbers.get(1)).filter(us -> us >= 0).map(Inspection::micros),
                            Optional.ofNullable(owners.get(numbers.get(2)))))
                    .toList();
        }

        private int firstWaiter() {
            return FIRST_HOLDER + NUMBERS_OF_ONE * Math.toIntExact(reply.get(1));
        }

        private Stream<List<Long>> threes(int from, int to) {
            return IntStream.range(0, (to - from) / NUMBERS_OF_ONE)
                    .map(i -> from + NUMBERS_OF_ONE * i)
                    .mapToObj(at -> reply.subList(at, at + NUMBERS_OF_ONE));
        }
    }

    private static Duration micros(long us) {
        return Duration.of(us, ChronoUnit.MICROS);
    }
}
