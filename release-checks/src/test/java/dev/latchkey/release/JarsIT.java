package dev.latchkey.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is in the jars, beside classes. */
class JarsIT {

    static List<Published> jars() {
        return Published.all();
    }

    @ParameterizedTest
    @MethodSource("jars")
    void givenJar_thenItSaysUnderWhichLicenceItIs(Published published) throws IOException {
        try (JarFile jar = new JarFile(published.jar().toFile())) {
            assertThat(jar.getEntry("META-INF/LICENSE")).isNotNull();
            assertThat(jar.getEntry("META-INF/NOTICE")).isNotNull();
        }
    }

    @ParameterizedTest
    @MethodSource("jars")
    void givenJar_thenItNamesTheModuleThatItIs(Published published) throws IOException {
        try (JarFile jar = new JarFile(published.jar().toFile())) {
            assertThat(jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name"))
                    .startsWith("dev.latchkey.");
        }
    }

    /** Resolving fails when two have a name or a package in common, or one names a provider that is not in it. */
    @Test
    void givenAllJarsOnTheModulePath_thenTheyAreModulesThatGoTogether() {
        ModuleFinder finder =
                ModuleFinder.of(jars().stream().map(Published::jar).toArray(Path[]::new));
        List<String> names = finder.findAll().stream()
                .map(ModuleReference::descriptor)
                .map(module -> module.name())
                .toList();

        Configuration resolved = ModuleLayer.boot().configuration().resolveAndBind(finder, ModuleFinder.of(), names);

        assertThat(resolved.modules()).hasSameSizeAs(jars());
    }
}
