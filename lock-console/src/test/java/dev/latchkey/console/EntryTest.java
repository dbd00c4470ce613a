package dev.latchkey.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What has not changed is not sent again: with 10,000 resources, that is nearly all. */
class EntryTest {

    @Test
    void givenTimeGoesOn_thenTheEntryIsTheSame() {
        Entry before = Entry.of(held(10_000, 20_000), 1_000);

        assertThat(Entry.of(held(10_900, 19_050), 2_000).settle(before)).isEqualTo(before);
    }

    @Test
    void givenRenewed_thenTheEntryChanges() {
        Entry before = Entry.of(held(10_000, 20_000), 1_000);

        assertThat(Entry.of(held(11_000, 30_000), 2_000).settle(before)).isNotEqualTo(before);
    }

    private static ListedResource held(long heldMillis, long leftMillis) {
        Holder holder = new Holder(
                LockMode.EXCLUSIVE,
                OptionalLong.of(7),
                Optional.of(Duration.ofMillis(leftMillis)),
                Optional.of(Duration.ofMillis(heldMillis)),
                Optional.of("host/1"));
        return new ListedResource("x", List.of(holder), Optional.of(List.of()));
    }
}
