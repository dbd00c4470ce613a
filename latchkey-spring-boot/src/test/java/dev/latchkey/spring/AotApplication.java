package dev.latchkey.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;

/** Of {@link AotIT}; not nested in it, for the classes that are generated for it take its name. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(
        excludeName = {
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration"
        })
@Import(AotApplication.Work.class)
class AotApplication {

    public static void main(String[] args) {
        SpringApplication application = new SpringApplication(AotApplication.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        try (ConfigurableApplicationContext context = application.run(args)) {
            System.out.println("locked " + context.getBean(Work.class).resource("work"));
            System.out.flush();
        }
    }

    static class Work {
        @Locked("#name")
        @Transactional
        public String resource(String name) {
            return CurrentLock.get().resource();
        }
    }
}
