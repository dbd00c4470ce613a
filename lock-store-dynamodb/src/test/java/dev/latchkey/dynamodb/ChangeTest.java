package dev.latchkey.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** What tells a store that its own write took effect. */
class ChangeTest {

    private final Key key = Key.of("orders");

    /** Two clones of a process could draw the same version. */
    @Test
    void givenTheVersionIsThatOfAnotherOwner_whenAsked_thenItIsAnotherWrite() {
        Change renewal = Change.renew(key, "", Duration.ofMinutes(1), OptionalLong.empty(), "seen");

        assertThat(renewal.wrote(held(renewal.version(), key.token()))).isTrue();
        assertThat(renewal.wrote(held(renewal.version(), Key.of("orders").token())))
                .isFalse();
        assertThat(renewal.wrote(held("another", key.token()))).isFalse();
    }

    private static LockItem held(String version, String owner) {
        return LockItem.of(
                        "orders",
                        Map.of(
                                LockItem.FENCE, AttributeValue.fromN("1"),
                                LockItem.LAST_FENCE, AttributeValue.fromN("9"),
                                LockItem.VERSION, AttributeValue.fromS(version),
                                LockItem.OWNER, AttributeValue.fromS(owner)))
                .orElseThrow();
    }
}
