package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that become part of statements, rows and addresses. */
class NamesTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "1st", "a b", "a;DROP TABLE x", "a\"b", "ä", "a.b", "a-b", "a\n"})
    void givenNoName_whenATableIsCalledThat_thenIllegalArgument(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> new TableName(Optional.empty(), name));
        assertThatIllegalArgumentException().isThrownBy(() -> new TableName(Optional.of(name), "fine"));
    }

    @Test
    void givenNamesOfOneTableToPostgreSql_thenTheyHaveOneChannel() {
        assertThat(new TableName(Optional.empty(), "Latchkey_LOCK").channel())
                .isEqualTo(new TableName(Optional.of("ops"), "latchkey_lock").channel())
                .isEqualTo("latchkey_lock");
    }

    @Test
    void givenPlainResource_thenItStandsAsItIs() {
        assertThat(ResourceName.of("billing/month:2026-11_a.b")).isEqualTo("billing/month:2026-11_a.b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "é", "a#b", "-'\"", "line\nbreak", "Job", "JOB"})
    void givenAnyOtherResource_thenItIsReadableAndHashedAndFits(String resource) {
        assertThat(ResourceName.of(resource))
                .matches("[A-Za-z0-9_.:/-]*#[0-9a-f]{64}")
                .hasSizeLessThanOrEqualTo(128);
        assertThat(ResourceName.of(resource.repeat(2_000) + "x")).hasSizeLessThanOrEqualTo(128);
    }

    @ParameterizedTest
    @CsvSource({"job,JOB", "job,Job", "a.b.NightlyReport,a.b.nightlyreport", "JOB,Job", "'JOB ',JOB"})
    void givenNamesThatDifferInCase_thenADatabaseThatIgnoresCaseKeepsThemApart(String one, String other) {
        assertThat(ResourceName.of(one)).isNotEqualToIgnoringCase(ResourceName.of(other));
    }

    @Test
    void givenAnAddress_thenTheUrlAndTheCredentialsAreApart() {
        Dsn dsn = Dsn.parse("postgresql://me:p%40ss+word@db.example:5433/locks?ssl=true");

        assertThat(dsn.url()).isEqualTo("jdbc:postgresql://db.example:5433/locks?ssl=true");
        assertThat(dsn.user()).contains("me");
        assertThat(dsn.password()).contains("p@ss+word");
        assertThat(dsn.toString()).doesNotContain("ss");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql://me:secret@",
                "mysql://me:secret@host",
                "mariadb:secret",
                "postgresql://me:se cret@h/d"
            })
    void givenAWrongAddress_thenAMessageThatSaysWhatIsRightAndNothingSecret(String dsn) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Dsn.parse(dsn))
                .withMessageContaining("://user:password@host/database")
                .withMessageNotContainingAny("secret", "cret");
    }

    @Test
    void givenNoDriver_thenAMessageThatNamesTheKindAndNothingSecret() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new JdbcStore.Provider().open("jdbc:nosuch://host/db?password=secret"))
                .withMessageContaining("jdbc:nosuch:")
                .withMessageNotContaining("secret");
    }
}
