package dev.latchkey.release;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** No class and no method has a name that ARCHITECTURE.md lists as retired. */
class RetiredWordsIT {

    private static final Path PAGE = Published.ROOT.resolve("ARCHITECTURE.md");
    private static final Pattern SECTION = Pattern.compile("(?s)\n## Retired names\n(.*?)(?:\n## |\\z)");
    private static final Pattern NAME = Pattern.compile("`(\\w+)`");

    @Test
    void givenARetiredName_thenNoClassAndNoMethodHasIt() throws IOException {
        Set<String> retired = retired();
        assertThat(retired).as("retired names in %s", PAGE).hasSizeGreaterThan(50);

        assertThat(declared())
                .hasSizeGreaterThan(5_000)
                .filteredOn(name -> retired.contains(name.name().toLowerCase(Locale.ROOT)))
                .as("named as ARCHITECTURE.md has retired; it says what to use instead")
                .isEmpty();
    }

    private static Set<String> retired() throws IOException {
        Matcher section = SECTION.matcher(Files.readString(PAGE));
        assertThat(section.find()).as("a section \"Retired names\" in %s", PAGE).isTrue();
        return section.group(1)
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.substring(0, line.indexOf('|', 1)))
                .flatMap(names -> NAME.matcher(names).results())
                .map(name -> name.group(1).toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
    }

    private static List<Declared> declared() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (var files = compiler.getStandardFileManager(null, null, null)) {
            var parsing = (JavacTask)
                    compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources()));
            List<Declared> names = new ArrayList<>();
            for (CompilationUnitTree unit : parsing.parse()) {
                unit.accept(new Declarations(unit.getSourceFile().getName()), names);
            }
            return names;
        }
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.walk(Published.ROOT, 12)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> file.toString().contains("/src/"))
                    .toList();
        }
    }

    private record Declared(String name, String file) {}

    private static final class Declarations extends TreeScanner<Void, List<Declared>> {

        private final String file;

        Declarations(String file) {
            this.file = file;
        }

        @Override
        public Void visitClass(ClassTree type, List<Declared> names) {
            names.add(new Declared(type.getSimpleName().toString(), file));
            return super.visitClass(type, names);
        }

        @Override
        public Void visitMethod(MethodTree method, List<Declared> names) {
            names.add(new Declared(method.getName().toString(), file));
            return super.visitMethod(method, names);
        }
    }
}
