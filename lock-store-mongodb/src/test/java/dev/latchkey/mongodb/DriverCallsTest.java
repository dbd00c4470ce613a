package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoSocketOpenException;
import com.mongodb.MongoSocketReadException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ServerAddress;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.util.Iterator;
import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

/** C25: what the driver throws tells how far a call came. The embedded server has no rights to refuse. */
class DriverCallsTest {

    private static final ServerAddress SERVER = new ServerAddress("db.example");

    private static MongoCommandException refusal(int code, String name) {
        return new MongoCommandException(
                BsonDocument.parse("{ok: 0, code: " + code + ", codeName: '" + name + "', errmsg: 'not so'}"), SERVER);
    }

    @Test
    void givenNoRightOrWrongCredentials_whenDescribed_thenDeniedInTheServersWords() {
        LockStorageException failure = DriverCalls.failure("report", refusal(13, "Unauthorized"));

        assertThat(failure.failure()).isEqualTo(Failure.DENIED);
        assertThat(failure).hasMessageContaining("13 Unauthorized").hasMessageContaining("not so");
        assertThat(DriverCalls.failureOf(refusal(18, "AuthenticationFailed"))).isEqualTo(Failure.DENIED);
        assertThat(DriverCalls.failureOf(refusal(8_000, "AtlasError"))).isEqualTo(Failure.DENIED);
    }

    @Test
    void givenNothingWasSent_whenDescribed_thenItSaysSo() {
        assertThat(DriverCalls.failureOf(new MongoTimeoutException("no server")))
                .isEqualTo(Failure.NOT_SENT);
        assertThat(DriverCalls.failureOf(new MongoSocketOpenException("refused", SERVER)))
                .isEqualTo(Failure.NOT_SENT);
    }

    /** It was told as undone, and what the first copy had taken was not given back: as when the password has changed. */
    @Test
    void givenTheReplyIsLostAndTheCredentialsAreRefusedThen_whenDescribed_thenInDoubt() {
        for (MongoException second : List.of(
                refusal(13, "Unauthorized"),
                new MongoSecurityException(
                        MongoCredential.createCredential("app", "admin", new char[0]), "authentication failed"),
                new MongoTimeoutException("no server"))) {
            Iterator<MongoException> answers = List.of(new MongoSocketReadException("reset", SERVER), second)
                    .iterator();
            try (DriverCalls calls = new DriverCalls()) {
                assertThatThrownBy(() -> calls.repeated("report", () -> {
                            throw answers.next();
                        }))
                        .isInstanceOfSatisfying(
                                LockStorageException.class,
                                failure -> assertThat(failure.failure()).isEqualTo(Failure.IN_DOUBT))
                        .hasMessageContaining("reset");
            }
            assertThat(answers).isExhausted();
        }
    }

    @Test
    void givenItMayHaveBeenDone_whenDescribed_thenInDoubt() {
        assertThat(DriverCalls.failureOf(new MongoOperationTimeoutException("late")))
                .isEqualTo(Failure.IN_DOUBT);
        assertThat(DriverCalls.failureOf(new MongoSocketReadTimeoutException("silent", SERVER, new RuntimeException())))
                .isEqualTo(Failure.IN_DOUBT);
        assertThat(DriverCalls.failureOf(new MongoException("anything"))).isEqualTo(Failure.IN_DOUBT);
        assertThat(DriverCalls.failureOf(refusal(189, "PrimarySteppedDown"))).isEqualTo(Failure.IN_DOUBT);
    }
}
