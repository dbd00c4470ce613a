package dev.latchkey.spring;

import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts applications of tests, as their main method would. */
final class Apps {

    /** A command of Redis is waited for as long as this machine needs. */
    static final String PATIENT_REDIS = "spring.data.redis.timeout="
            + TimeLimits.scaled(Duration.ofSeconds(3)).toMillis() + "ms";

    private Apps() {}

    static ConfigurableApplicationContext start(Class<?> application, String... properties) {
        return start(application, WebApplicationType.NONE, properties);
    }

    /** Starts an application with its web server. */
    static ConfigurableApplicationContext serve(Class<?> application, String... properties) {
        return start(application, WebApplicationType.SERVLET, properties);
    }

    private static ConfigurableApplicationContext start(
            Class<?> application, WebApplicationType type, String... properties) {
        List<String> arguments = new ArrayList<>(List.of("--spring.main.banner-mode=off"));
        for (String property : properties) {
            arguments.add("--" + property);
        }
        return new SpringApplicationBuilder(application).web(type).run(arguments.toArray(String[]::new));
    }

    /** The properties of an application on the database that tests share. */
    static String[] onPostgres(String... more) {
        return on(PostgresServer.jdbcUrl(PostgresServer.sharedDsn()), more);
    }

    static String[] on(String url, String... more) {
        List<String> properties = new ArrayList<>(List.of(more));
        properties.add("spring.datasource.url=" + url);
        if (properties.stream().noneMatch(property -> property.startsWith("latchkey.store="))) {
            properties.add("latchkey.store=jdbc");
        }
        return properties.toArray(String[]::new);
    }
}
