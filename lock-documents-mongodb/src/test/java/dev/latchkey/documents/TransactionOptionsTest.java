package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** C16: a client that prefers secondaries had each transaction fail. Runs without a server: there is no replica set here. */
class TransactionOptionsTest {

    @Test
    void givenOptionsThatSayLess_whenMade_thenThePrimaryASnapshotAndAMajority() {
        TransactionOptions options = Transactions.completed(
                TransactionOptions.builder().maxCommitTime(3L, TimeUnit.SECONDS).build());

        assertThat(options.getReadPreference()).isEqualTo(ReadPreference.primary());
        assertThat(options.getReadConcern()).isEqualTo(ReadConcern.SNAPSHOT);
        assertThat(options.getWriteConcern())
                .isEqualTo(WriteConcern.MAJORITY.withWTimeout(
                        Duration.ofSeconds(10).toMillis(), TimeUnit.MILLISECONDS));
        assertThat(options.getMaxCommitTime(TimeUnit.SECONDS)).isEqualTo(3);
    }

    @Test
    void givenOptionsThatSayMore_whenMade_thenTheyCount() {
        TransactionOptions options = Transactions.completed(
                TransactionOptions.builder().writeConcern(WriteConcern.W1).build());

        assertThat(options.getWriteConcern()).isEqualTo(WriteConcern.W1);
    }
}
