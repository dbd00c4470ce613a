package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/** What editors show of the properties. */
class MetadataTest {

    @Test
    void givenTheProperties_thenEachHasATypeADescriptionAndItsDefault() throws Exception {
        Map<Object, Map<?, ?>> properties = metadata().stream()
                .collect(Collectors.toMap(one -> Objects.requireNonNull(one.get("name")), one -> one));

        assertThat(properties.keySet().stream().map(Object::toString))
                .containsExactlyInAnyOrder("latchkey.store", "latchkey.ttl", "latchkey.prefix", "latchkey.fail-fast");
        assertThat(properties.values())
                .allSatisfy(one -> assertThat(String.valueOf(one.get("description")))
                        .isNotBlank()
                        .isNotEqualTo("null"));
        assertThat(properties.get("latchkey.ttl"))
                .isNotNull()
                .extracting("type", "defaultValue")
                .containsExactly("java.time.Duration", "30s");
        assertThat(properties.get("latchkey.fail-fast"))
                .isNotNull()
                .extracting("type", "defaultValue")
                .containsExactly("java.lang.Boolean", true);
    }

    private static List<Map<?, ?>> metadata() throws Exception {
        for (URL file : Collections.list(
                MetadataTest.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
            try (InputStream in = file.openStream()) {
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                if (text.contains("\"latchkey.store\"")) {
                    List<?> properties = (List<?>) Objects.requireNonNull(
                            JsonParserFactory.getJsonParser().parseMap(text).get("properties"));
                    return properties.stream()
                            .<Map<?, ?>>map(one -> (Map<?, ?>) one)
                            .filter(one -> String.valueOf(one.get("name")).startsWith("latchkey."))
                            .toList();
                }
            }
        }
        throw new AssertionError("no metadata of Latchkey on the class path");
    }
}
