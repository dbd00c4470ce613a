package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.jdbc.JdbcStore;
import dev.latchkey.redis.RedisStore;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.event.command.CommandListener;
import io.lettuce.core.event.command.CommandStartedEvent;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * ARCHITECTURE.md draws which classes a call goes through, from the {@link Lock} to the driver, and how many calls that may be
 * at most. Here the driver looks at the stack when it is called, and finds what is drawn.
 */
class CallPathIT {

    private static final Path PAGE = Documents.ROOT.resolve("ARCHITECTURE.md");
    private static final Pattern DRAWN =
            Pattern.compile("(?m)^(Redis|JDBC) +(\\S.*?\\S) {2,}(Lock → .* → driver) +(\\d+)$");
    private static final String TRY = "tryAcquire()";
    private static final String FREE = "acquire(), free";
    private static final String HELD = "acquire(), held";

    /** What the driver has seen of each thread. */
    private final ConcurrentMap<Thread, List<List<String>>> seen = new ConcurrentHashMap<>();

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        Collections.reverse(opened);
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @Test
    void givenRedis_whenAcquired_thenTheCallsAreThoseThatAreDrawn() throws Exception {
        RedisServer server = open(RedisServer.start());
        RedisClient client = RedisClient.create(server.dsn());
        opened.add(() -> client.shutdown(0, 2, TimeUnit.SECONDS));
        client.addListener(new CommandListener() {
            @Override
            public void commandStarted(CommandStartedEvent event) {
                look();
            }
        });

        assertDrawn(
                "Redis",
                open(RedisStore.builder(client)
                        .commandTimeout(TimeLimits.scaled(Duration.ofSeconds(3)))
                        .build()));
    }

    @Test
    void givenASqlDatabase_whenAcquired_thenTheCallsAreThoseThatAreDrawn() throws Exception {
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");

        assertDrawn("JDBC", open(new JdbcStore(watched(DataSource.class, database))));
    }

    private void assertDrawn(String store, PersistingStore opening) throws Exception {
        LockFactory locks = open(new LockFactory(opening));
        Lock lock = locks.createLock("drawn", Duration.ofSeconds(60));
        for (int i = 0; i < 2; i++) {
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();
        }

        assertDrawn(store, TRY, pathsOf(() -> assertThat(lock.tryAcquire()).isTrue()));
        lock.release();
        assertDrawn(store, FREE, pathsOf(lock::acquire));
        List<List<String>> waiting = pathsOfWait(lock, locks.createLock("drawn", Duration.ofSeconds(60)));
        assertDrawn(store, HELD, waiting);
    }

    /** A call may ask for more than the lock, as who holds it: what is drawn is among it, and nothing takes more calls. */
    private static void assertDrawn(String store, String call, List<List<String>> paths) throws IOException {
        MatchResult drawn = DRAWN.matcher(Files.readString(PAGE))
                .results()
                .filter(line -> line.group(1).equals(store) && line.group(2).equals(call))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no line \"" + store + "  " + call + "\" in " + PAGE));

        assertThat(paths)
                .as("%s of %s, as it is drawn in %s", call, store, PAGE)
                .contains(List.of(drawn.group(3).split(" → ", -1)));
        assertThat(paths)
                .as("calls from Lock to the driver, %s of %s", call, store)
                .allSatisfy(path -> assertThat(path.size() - 1).isLessThanOrEqualTo(Integer.parseInt(drawn.group(4))));
    }

    private interface Call {
        Object run() throws Exception;
    }

    private List<List<String>> pathsOf(Call call) throws Exception {
        seen.clear();
        Object unused = call.run();
        return seen.getOrDefault(Thread.currentThread(), List.of());
    }

    /** The waiter has asked, and asked again, before it gets what it waits for. */
    private List<List<String>> pathsOfWait(Lock holder, Lock waiter) throws Exception {
        seen.clear();
        FutureTask<Lock> acquired = new FutureTask<>(waiter::acquire);
        Thread thread = new Thread(acquired, "waiter");
        thread.start();
        await().atMost(TimeLimits.LIMIT)
                .until(() -> seen.getOrDefault(thread, List.of()).size() >= 2);
        assertThat(holder.release()).isTrue();
        acquired.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        return seen.getOrDefault(thread, List.of());
    }

    /** The classes of Latchkey that a call goes through, each with what it nests; from the Lock on. */
    private void look() {
        List<String> classes = StackWalker.getInstance()
                .walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                        .filter(name ->
                                name.startsWith("dev.latchkey.") && !name.startsWith(CallPathIT.class.getPackageName()))
                        .map(name -> name.replaceFirst("\\$.*", ""))
                        .map(name -> name.substring(name.lastIndexOf('.') + 1))
                        .collect(ArrayList::new, CallPathIT::addOther, ArrayList::addAll));
        Collections.reverse(classes);
        classes.add("driver");
        if (classes.contains("Lock")) {
            seen.computeIfAbsent(Thread.currentThread(), thread -> new CopyOnWriteArrayList<>())
                    .add(classes);
        }
    }

    private static void addOther(List<String> classes, String next) {
        if (classes.isEmpty() || !classes.get(classes.size() - 1).equals(next)) {
            classes.add(next);
        }
    }

    private <T extends AutoCloseable> T open(T one) {
        opened.add(one);
        return one;
    }

    /** Has the stack looked at when a statement is executed. */
    private <T> T watched(Class<T> type, Object driver) {
        InvocationHandler looking = (proxy, method, args) -> {
            if (method.getName().startsWith("execute")) {
                look();
            }
            Object result;
            try {
                result = method.invoke(driver, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
            if (result instanceof Connection) {
                return watched(Connection.class, result);
            }
            if (result instanceof PreparedStatement) {
                return watched(PreparedStatement.class, result);
            }
            return result instanceof Statement ? watched(Statement.class, result) : result;
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, looking));
    }
}
