package dev.latchkey.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CombinedDsnTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "in-memory,in-memory,null|in-memory;in-memory;null",
                "redis://a,redis://b:1/2,flock|redis://a;redis://b:1/2;flock",
                "redis-cluster://h1:1,redis:6379,null,jdbc:h2:mem:x|redis-cluster://h1:1,redis:6379;null;jdbc:h2:mem:x",
                "zookeeper://a,b,c/x,combined:unanimous(in-memory,null)|"
                        + "zookeeper://a,b,c/x;combined:unanimous(in-memory,null)",
                "jdbc:oracle:thin:@(D=(A=x,y)),flock:///v|jdbc:oracle:thin:@(D=(A=x,y));flock:///v",
                "in-memory|in-memory",
            })
    void givenMembers_whenSplit_thenAHostInAListIsNoMember(String list, String members) {
        assertThat(CombinedDsn.members(list)).containsExactly(members.split(";"));
    }

    @Test
    void givenDsn_whenConnected_thenItLocks() {
        String dsn = "combined:consensus(in-memory,in-memory,combined:unanimous(in-memory,in-memory))";
        try (LockFactory locks = LockFactory.connect(dsn)) {
            Lock lock = locks.createLock("x");

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(locks.createLock("x").tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
            assertThat(locks.createLock("x").tryAcquire()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "combined:consensus",
                "combined:(redis://:s3cret@h)",
                "combined:most(redis://:s3cret@h)",
                "combined://consensus(redis://:s3cret@h)",
                "combined:consensus(in-memory,redi://:s3cret@h)",
                "combined:consensus(in-memory,redis://:s3cret@h)",
                "combined:consensus(in-memory",
                "combined:consensus()",
            })
    void givenWrongDsn_whenConnected_thenSaysWhatIsRightAndNoPassword(String dsn) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockFactory.connect(dsn))
                .satisfies(
                        e -> assertThat(e.getMessage()).doesNotContain("s3cret").hasSizeGreaterThan(20));
    }
}
