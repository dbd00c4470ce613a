package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StoreProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Reads the DSN of a combined store. No message repeats any of it, for members may have passwords. */
final class CombinedDsn {

    private static final String FORM = "combined:consensus(dsn,dsn,dsn) or combined:unanimous(dsn,dsn)";

    /** What a member begins with: a host in a list of hosts is followed by neither. */
    private static final Pattern MEMBER = Pattern.compile(
            "[a-z][a-z0-9+-]*://.*|(?:jdbc|combined):.*|(?:in-memory|null|flock)(?:[,)].*)?", Pattern.DOTALL);

    private CombinedDsn() {}

    static PersistingStore open(String dsn) {
        String rest = dsn.substring(dsn.indexOf(':') + 1);
        int parenthesis = rest.indexOf('(');
        if (parenthesis < 0 || !rest.endsWith(")")) {
            throw new IllegalArgumentException("the DSN of a combined store lacks parentheses: it is " + FORM);
        }
        Strategy strategy = switch (rest.substring(0, parenthesis)) {
            case "consensus" -> new ConsensusStrategy();
            case "unanimous" -> new UnanimousStrategy();
            default -> throw new IllegalArgumentException("unknown strategy of a combined store: its DSN is " + FORM);
        };
        List<PersistingStore> opened = new ArrayList<>();
        try {
            for (String member : members(rest.substring(parenthesis + 1, rest.length() - 1))) {
                opened.add(StoreProvider.connect(member));
            }
            return new Owning(new CombinedStore(opened, strategy), opened);
        } catch (RuntimeException e) {
            closeAll(opened, e);
            throw e;
        }
    }

    static List<String> members(String list) {
        List<String> members = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i < list.length(); i++) {
            char c = list.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ',' && depth == 0 && MEMBER.matcher(list.substring(i + 1)).matches()) {
                members.add(list.substring(start, i));
                start = i + 1;
            }
        }
        if (!list.isEmpty()) {
            members.add(list.substring(start));
        }
        return members;
    }

    /** Closes each, also when another fails. */
    private static RuntimeException closeAll(List<? extends PersistingStore> stores, RuntimeException cause) {
        for (PersistingStore store : stores) {
            try {
                store.close();
            } catch (RuntimeException e) {
                cause.addSuppressed(e);
            }
        }
        return cause;
    }

    /** Ends its members with itself. */
    record Owning(CombinedStore store, List<PersistingStore> members) implements PersistingStore {

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }

        @Override
        public <T> Optional<T> capability(Class<T> type) {
            return store.capability(type);
        }

        @Override
        public void close() {
            // Not before their last calls: what is released while closing would stay until its lease ends.
            var unused = store.end().join();
            RuntimeException failure = closeAll(members, new IllegalStateException("members could not be closed"));
            if (failure.getSuppressed().length > 0) {
                throw failure;
            }
        }

        @Override
        public String toString() {
            return store.toString();
        }
    }
}
