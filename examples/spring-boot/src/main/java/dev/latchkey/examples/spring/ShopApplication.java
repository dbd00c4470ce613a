package dev.latchkey.examples.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Start several with the same {@code spring.datasource.url}, and each with another {@code server.port}. */
@SpringBootApplication
@EnableScheduling
public class ShopApplication {

    /** For Spring. */
    public ShopApplication() {}

    /**
     * Starts an instance.
     *
     * @param args properties
     */
    public static void main(String[] args) {
        SpringApplication.run(ShopApplication.class, args);
    }
}
