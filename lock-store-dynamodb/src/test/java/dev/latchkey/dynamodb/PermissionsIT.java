package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.testkit.ServerAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.interceptor.SdkExecutionAttribute;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The policy of the store's page allows what the store asks for, and nothing else. */
class PermissionsIT {

    private static final Path PAGE = Path.of("..", "docs", "stores", "dynamodb.md");
    private static final Pattern STATEMENT = Pattern.compile("\"Action\": \\[([^\\]]*)\\]");
    private static final Pattern ACTION = Pattern.compile("\"dynamodb:(\\w+)\"");
    private static final Duration TTL = Duration.ofMinutes(1);

    private static DynamoDbServer server;

    @BeforeAll
    static void start() {
        server = DynamoDbServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void givenAllThatAStoreDoes_whenItsRequestsAreNoted_thenTheyAreThoseOfThePolicy() throws Exception {
        List<Set<String>> policy = policy();
        Operations locking = new Operations();
        Operations creating = new Operations();
        Operations listing = new Operations();
        ServerAddress address = server.address();
        try (DynamoDbClient lockingClient = Stores.client(address, locking);
                DynamoDbClient creatingClient = Stores.client(address, creating);
                DynamoDbClient listingClient = Stores.client(address, listing);
                DynamoDbStore store = Stores.builder(lockingClient, "locks").build();
                DynamoDbStore creator = Stores.builder(creatingClient, "locks").build();
                DynamoDbStore lister = Stores.builder(listingClient, "locks").build()) {
            creator.createTable();
            lock(store);
            assertThat(lister.list("", Optional.empty(), 10).resources()).hasSize(1);
        }

        assertThat(policy).hasSize(3);
        assertThat(locking.names).isEqualTo(policy.get(0));
        assertThat(creating.names).isEqualTo(policy.get(1));
        assertThat(listing.names).isEqualTo(policy.get(2));
    }

    /** Everything but the creation of the table and lists; one hold stays. */
    private static void lock(DynamoDbStore store) {
        Key key = Key.of("report");
        long token = fence(store.save(request(key)));
        assertThat(store.save(request(Key.of("report")))).isInstanceOf(Response.Conflicted.class);
        assertThat(store.refresh(request(key))).isInstanceOf(Response.Granted.class);
        assertThat(store.find(key)).isPresent();
        assertThat(store.holders("report")).hasSize(1);
        assertThat(store.forceRelease("report", token)).isTrue();
        assertThat(store.delete(key)).isFalse();
        assertThat(fence(store.save(request(key)))).isGreaterThan(token);
    }

    private static long fence(Response response) {
        return ((Response.Granted) response).fencingToken().orElseThrow();
    }

    private static Request request(Key key) {
        return new Request(key, LockMode.EXCLUSIVE, TTL, RetryIntent.ONCE, LeaseChange.EXTEND);
    }

    /** Of each statement, the operations that it allows. */
    private static List<Set<String>> policy() throws Exception {
        return STATEMENT
                .matcher(Files.readString(PAGE, StandardCharsets.UTF_8))
                .results()
                .map(statement -> actions(statement.group(1)))
                .toList();
    }

    private static Set<String> actions(String list) {
        Set<String> actions = new TreeSet<>();
        Matcher action = ACTION.matcher(list);
        while (action.find()) {
            actions.add(action.group(1));
        }
        return actions;
    }

    /** The names of all operations of a client. */
    private static final class Operations implements ExecutionInterceptor {

        private final Set<String> names = new ConcurrentSkipListSet<>();

        @Override
        public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
            names.add(Objects.requireNonNull(attributes.getAttribute(SdkExecutionAttribute.OPERATION_NAME)));
        }
    }
}
