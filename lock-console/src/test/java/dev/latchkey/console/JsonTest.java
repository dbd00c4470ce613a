package dev.latchkey.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class JsonTest {

    @Test
    void givenAnyCharacter_whenQuoted_thenEscapedWhereNeeded() {
        assertThat(Json.quote("a\"b\\c\n\r\t\u0000\u001f\u007f\u2028\u2029é🔒/"))
                .isEqualTo("\"a\\\"b\\\\c\\n\\r\\t\\u0000\\u001f\\u007f\\u2028\\u2029é🔒/\"");
    }

    @Test
    void givenMembers_whenWritten_thenInOrder() {
        Json json = new Json()
                .put("text", "x")
                .put("none", (String) null)
                .put("number", OptionalLong.of(3))
                .put("empty", OptionalLong.empty())
                .put("flag", true)
                .put("list", List.of(new Json().put("a", 1L), new Json()));

        assertThat(json)
                .hasToString("{\"text\":\"x\",\"none\":null,\"number\":3,\"empty\":null,\"flag\":true,"
                        + "\"list\":[{\"a\":1},{}]}");
    }
}
