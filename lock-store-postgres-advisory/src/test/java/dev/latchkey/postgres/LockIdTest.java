package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LockIdTest {

    /** The numbers are a protocol between versions: a new one that counts otherwise would not exclude an old one. */
    @Test
    void givenResource_whenNumbered_thenAlwaysTheSame() {
        assertThat(LockId.of("")).isEqualTo(new LockId(0xe3b0c44298fc1c14L, 0x9afbf4c8996fb924L));
        assertThat(LockId.of("abc")).isEqualTo(new LockId(0xba7816bf8f01cfeaL, 0x414140de5dae2223L));
    }

    /** F29: 32 bits are not enough. */
    @Test
    void givenTwoOfTheSameCrc32_whenNumbered_thenTheyDiffer() {
        assertThat(LockId.of("plumless")).isNotEqualTo(LockId.of("buckeroo"));
    }
}
