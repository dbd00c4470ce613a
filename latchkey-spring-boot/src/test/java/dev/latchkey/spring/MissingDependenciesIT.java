package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Applications that have only some of what the integration knows. Each is loaded by a class loader of its own, as a web
 * container does it, for which the others do not exist: in processes of their own, most of the time was that of starting them.
 */
class MissingDependenciesIT {

    private static final Pattern REQUIRED = Pattern.compile(
            "^(lock-core|lock-console|lock-store-flock|latchkey-spring-boot|spring-boot|spring-boot-autoconfigure"
                    + "|spring-(core|beans|context|aop|expression)|micrometer-(observation|commons)|jspecify|slf4j-api|log.*|jul-to-slf4j"
                    + "|snakeyaml|commons-logging|jna.*)-[0-9]");

    @TempDir
    private Path directory = Path.of("");

    /** Java looks for drivers of SQL once, with the class loader of whoever asks first: not with one that is closed soon. */
    @BeforeAll
    static void findDriversOfAllTests() {
        assertThat(DriverManager.drivers()).isNotEmpty();
    }

    @ParameterizedTest(name = "without {0}")
    @CsvSource(delimiter = '|', textBlock = """
            Lettuce                        | jdbc  | lettuce-core
            Spring's part for Redis        | jdbc  | spring-data-redis, spring-boot-data-redis
            the Redis of Latchkey          | jdbc  | lock-store-redis
            the driver of MongoDB          | jdbc  | mongodb-driver-sync, mongodb-driver-core, bson
            Boot's part for MongoDB        | jdbc  | spring-boot-mongodb
            the MongoDB of Latchkey        | jdbc  | lock-store-mongodb
            the SQL of Latchkey            | flock | lock-store-jdbc
            Spring's part for SQL          | flock | spring-jdbc, spring-boot-jdbc
            transactions                   | flock | spring-tx, spring-jdbc, spring-boot-jdbc, spring-boot-transaction, spring-data-redis, spring-boot-data-redis
            Reactor                        | jdbc  | reactor-core, reactive-streams, lettuce-core
            the metrics of Latchkey        | jdbc  | latchkey-micrometer
            Micrometer                     | jdbc  | micrometer-core
            health                         | jdbc  | spring-boot-health
            the actuator                   | jdbc  | spring-boot-actuator, spring-boot-actuator-autoconfigure, spring-boot-health
            Spring's part for the web      | jdbc  | spring-web, spring-webmvc, spring-boot-webmvc, spring-boot-http-converter
            servlets                       | jdbc  | jakarta.servlet-api, tomcat-embed-core
            the tests of Boot              | jdbc  | spring-boot-test, spring-boot-test-autoconfigure, spring-test
            """)
    void givenOneIsMissing_thenLocksWithWhatThereIs(String what, String store, String missing) throws Exception {
        assertLocks(without(Set.of(missing.split(", "))), "--latchkey.store=" + store);
    }

    /** As an application has it that depends on the starter alone. */
    @Test
    void givenAllAreMissing_thenLocksFiles() throws Exception {
        assertThat(assertLocks(REQUIRED.asPredicate())).contains("Latchkey keeps locks in files");
    }

    private String assertLocks(Predicate<String> jars, String... properties) throws Exception {
        URL[] classPath = classPath()
                .filter(path -> !path.endsWith(".jar")
                        || jars.test(Path.of(path).getFileName().toString()))
                .map(MissingDependenciesIT::url)
                .toArray(URL[]::new);
        Path log = directory.resolve("application.log");
        List<String> arguments = new ArrayList<>(List.of(properties));
        arguments.add("--management.endpoints.web.exposure.include=*");
        arguments.add("--spring.datasource.url=jdbc:h2:mem:missing");
        arguments.add("--logging.file.name=" + log);
        arguments.add("--logging.threshold.console=OFF");
        try (URLClassLoader loader = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
            assertThat(resourceLockedBy(loader, arguments.toArray(String[]::new)))
                    .isEqualTo("work");
        }
        return Files.readString(log);
    }

    private static Object resourceLockedBy(ClassLoader loader, String... arguments) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            var main = Class.forName(Application.class.getName(), true, loader)
                    .getDeclaredMethod("resourceLocked", String[].class);
            main.setAccessible(true);
            return main.invoke(null, (Object) arguments);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static URL url(String path) {
        try {
            return new File(path).toURI().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static Predicate<String> without(Set<String> artifacts) {
        assertThat(classPath().map(MissingDependenciesIT::artifact)).containsAll(artifacts);
        return jar -> !artifacts.contains(artifact(jar));
    }

    private static Stream<String> classPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator));
    }

    private static String artifact(String path) {
        return Path.of(path).getFileName().toString().replaceFirst("-[0-9].*", "");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Work.class)
    static class Application {

        static String resourceLocked(String... arguments) throws SQLException {
            SpringApplication application = new SpringApplication(Application.class);
            application.setWebApplicationType(WebApplicationType.NONE);
            // It would keep this class loader for as long as the JVM runs, as the drivers of SQL would.
            application.setRegisterShutdownHook(false);
            try (ConfigurableApplicationContext context = application.run(arguments)) {
                return context.getBean(Work.class).resource("work");
            } finally {
                for (var driver : Collections.list(DriverManager.getDrivers())) {
                    DriverManager.deregisterDriver(driver);
                }
            }
        }
    }

    static class Work {
        @Locked("#name")
        String resource(String name) {
            return CurrentLock.get().resource();
        }
    }
}
