package dev.latchkey.dynamodb;

import dev.latchkey.spi.DsnDuration;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A parsed DSN. It has no credentials: the SDK finds them. */
record Dsn(String region, String table, Optional<URI> endpoint, boolean createsTable, Duration timeout) {

    static final String SCHEME = "dynamodb";

    private static final Pattern DSN =
            Pattern.compile("dynamodb://(?<region>[a-z0-9-]+)/(?<table>[A-Za-z0-9_.-]{3,255})(?:\\?(?<options>.*))?");

    private static final String RIGHT =
            "write dynamodb://region/table, as in dynamodb://eu-central-1/locks, with ?create-table=true to create the table,"
                    + " timeout=5s for another time limit, endpoint=http://host:port for another endpoint;"
                    + " credentials are found by the AWS SDK, and do not belong in a DSN";

    static Dsn parse(String text) {
        Matcher matcher = DSN.matcher(text);
        if (!matcher.matches()) {
            // The text is not repeated: someone may have written a secret into it.
            throw new IllegalArgumentException("not a DSN of DynamoDB: " + RIGHT);
        }
        Dsn plain = new Dsn(
                matcher.group("region"),
                matcher.group("table"),
                Optional.empty(),
                false,
                DynamoDbStore.Builder.DEFAULT_TIMEOUT);
        String options = Optional.ofNullable(matcher.group("options")).orElse("");
        return options.isEmpty()
                ? plain
                : Arrays.stream(options.split("&", -1)).reduce(plain, Dsn::with, (one, other) -> other);
    }

    private Dsn with(String option) {
        int equals = option.indexOf('=');
        String name = equals < 0 ? option : option.substring(0, equals);
        String value = equals < 0 ? "" : option.substring(equals + 1);
        return switch (name) {
            case "create-table" -> new Dsn(region, table, endpoint, isTrue(value), timeout);
            case "timeout" -> new Dsn(region, table, endpoint, createsTable, duration(value));
            case "endpoint" -> new Dsn(region, table, Optional.of(uri(value)), createsTable, timeout);
            default -> throw new IllegalArgumentException("a DSN of DynamoDB has no such option: " + RIGHT);
        };
    }

    private static boolean isTrue(String value) {
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException("create-table of the DSN is neither true nor false: " + RIGHT);
        }
        return value.equals("true");
    }

    private static Duration duration(String value) {
        return DsnDuration.parse(value)
                .orElseThrow(() ->
                        new IllegalArgumentException("timeout of the DSN is not " + DsnDuration.FORM + ": " + RIGHT));
    }

    private static URI uri(String value) {
        if (!value.matches("https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?/?")) {
            throw new IllegalArgumentException("endpoint of the DSN is not http://host:port or https://host: " + RIGHT);
        }
        return URI.create(value);
    }
}
