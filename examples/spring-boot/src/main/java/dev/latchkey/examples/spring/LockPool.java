package dev.latchkey.examples.spring;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.jdbc.JdbcStore;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/** Locks by a pool of their own. */
@Configuration(proxyBeanMethods = false)
@Profile("own-pool")
class LockPool {

    @Bean(defaultCandidate = false)
    HikariDataSource lockPool(DataSourceProperties properties) {
        HikariDataSource pool = properties
                .initializeDataSourceBuilder()
                .type(HikariDataSource.class)
                .build();
        pool.setMaximumPoolSize(4);
        return pool;
    }

    @Bean
    JdbcStore lockStore(@Qualifier("lockPool") HikariDataSource pool) {
        return new JdbcStore(pool);
    }
}
