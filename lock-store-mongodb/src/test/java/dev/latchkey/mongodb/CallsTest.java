package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoSocketOpenException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ServerAddress;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

/** C25: what the driver throws tells how far a call came. The embedded server has no rights to refuse. */
class CallsTest {

    private static final ServerAddress SERVER = new ServerAddress("db.example");

    private static MongoCommandException refusal(int code, String name) {
        return new MongoCommandException(
                BsonDocument.parse("{ok: 0, code: " + code + ", codeName: '" + name + "', errmsg: 'not so'}"), SERVER);
    }

    @Test
    void givenNoRightOrWrongCredentials_whenDescribed_thenDeniedInTheServersWords() {
        LockStorageException failure = Calls.failure("report", refusal(13, "Unauthorized"));

        assertThat(failure.failure()).isEqualTo(Failure.DENIED);
        assertThat(failure).hasMessageContaining("13 Unauthorized").hasMessageContaining("not so");
        assertThat(Calls.failureOf(refusal(18, "AuthenticationFailed"))).isEqualTo(Failure.DENIED);
        assertThat(Calls.failureOf(refusal(8_000, "AtlasError"))).isEqualTo(Failure.DENIED);
    }

    @Test
    void givenNothingWasSent_whenDescribed_thenItSaysSo() {
        assertThat(Calls.failureOf(new MongoTimeoutException("no server"))).isEqualTo(Failure.NOT_SENT);
        assertThat(Calls.failureOf(new MongoSocketOpenException("refused", SERVER)))
                .isEqualTo(Failure.NOT_SENT);
    }

    @Test
    void givenItMayHaveBeenDone_whenDescribed_thenInDoubt() {
        assertThat(Calls.failureOf(new MongoOperationTimeoutException("late"))).isEqualTo(Failure.IN_DOUBT);
        assertThat(Calls.failureOf(new MongoSocketReadTimeoutException("silent", SERVER, new RuntimeException())))
                .isEqualTo(Failure.IN_DOUBT);
        assertThat(Calls.failureOf(new MongoException("anything"))).isEqualTo(Failure.IN_DOUBT);
        assertThat(Calls.failureOf(refusal(189, "PrimarySteppedDown"))).isEqualTo(Failure.IN_DOUBT);
    }
}
