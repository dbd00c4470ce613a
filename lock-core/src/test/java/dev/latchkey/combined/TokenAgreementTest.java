package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenAgreementTest {

    @Test
    void givenDifferentTokens_whenAgreed_thenTheGreatestIsItAndTheOthersAreBehind() {
        TokenAgreement<String> agreement = TokenAgreement.of(Map.of("a", 7L, "b", 9L, "c", 9L));

        assertThat(agreement).isEqualTo(new TokenAgreement<>(9, Set.of("b", "c"), Set.of("a")));
    }

    @Test
    void givenOneTokenOfAll_whenAgreed_thenNobodyIsBehind() {
        TokenAgreement<String> agreement = TokenAgreement.of(Map.of("a", 7L, "b", 7L));

        assertThat(agreement).isEqualTo(new TokenAgreement<>(7, Set.of("a", "b"), Set.of()));
    }

    /** Half of the members is not enough: the other half could agree on a smaller one. */
    @ParameterizedTest
    @CsvSource({"1,true", "2,true", "3,true", "4,false", "5,false"})
    void givenTwoHaveTheToken_whenOneMoreIsRaised_thenItIsSoundWithMoreThanHalfOfTheMembers(
            int members, boolean sound) {
        TokenAgreement<String> agreement = TokenAgreement.of(Map.of("a", 9L, "b", 9L, "c", 7L, "d", 8L));

        assertThat(agreement.isSound(List.of(), members)).isEqualTo(sound);
        assertThat(agreement.isSound(List.of("c"), members)).isTrue();
    }

    @Test
    void givenHalfHasTheToken_whenAsked_thenItIsNotSound() {
        TokenAgreement<String> agreement = TokenAgreement.of(Map.of("a", 9L, "b", 7L));

        assertThat(agreement.isSound(List.of(), 2)).isFalse();
        assertThat(agreement.isSound(List.of("b"), 2)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"9,9,7,true", "9,7,7,false", "9,10,10,false"})
    void givenThreeMembersAnswer_whenAskedForTheTokenOfBefore_thenKeptIfMoreThanHalfSayIt(
            long one, long other, long third, boolean kept) {
        assertThat(TokenAgreement.isKept(9, Map.of("a", one, "b", other, "c", third), 3))
                .isEqualTo(kept);
    }

    /** That no member says otherwise is not enough. */
    @Test
    void givenOneOfThreeMembersAnswers_whenItSaysTheToken_thenItIsNotKnownToBeKept() {
        assertThat(TokenAgreement.isKept(9, Map.of("a", 9L), 3)).isFalse();
    }
}
