package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PathsTest {

    @Test
    void givenPlainName_whenMapped_thenItself() {
        assertThat(new Paths("/latchkey").of("orders:4711")).isEqualTo("/latchkey/orders:4711");
        assertThat(new Paths("/").of("orders:4711")).isEqualTo("/orders:4711");
    }

    @ParameterizedTest
    @MethodSource("dev.latchkey.testkit.NamingContract#names")
    void givenAnyName_whenMapped_thenOneValidNodeBelowTheRoot(String resource) {
        String path = new Paths("/latchkey").of(resource);

        PathUtils.validatePath(path);
        assertThat(path).startsWith("/latchkey/").hasSizeLessThan(200);
        assertThat(path.substring("/latchkey/".length())).doesNotContain("/");
    }

    /** What cannot be read off the path is in the node. */
    @ParameterizedTest
    @MethodSource("dev.latchkey.testkit.NamingContract#names")
    void givenAnyName_whenMapped_thenItCanBeReadOffTheNodeOrItsContent(String resource) {
        String node = new Paths("/latchkey").of(resource).substring("/latchkey/".length());
        byte[] content = Paths.content(resource);

        if (Paths.isPlain(node)) {
            assertThat(node).isEqualTo(resource);
            assertThat(content).isEmpty();
        } else {
            assertThat(Paths.resource(node, content)).contains(resource);
            assertThat(Paths.resource(node, Paths.content(resource + "/"))).isEmpty();
        }
        for (int end = 0; end <= resource.length(); end++) {
            assertThat(Paths.isPlain(node) || Paths.mayContain(node, resource.substring(0, end)))
                    .isTrue();
        }
    }

    @Test
    void givenNameThatLooksLikeAMappedOne_whenMapped_thenAnother() {
        Paths paths = new Paths("/latchkey");
        String mapped = paths.of("a/b").substring("/latchkey/".length());

        assertThat(paths.of(mapped)).isNotEqualTo(paths.of("a/b"));
    }
}
