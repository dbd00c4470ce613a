package dev.latchkey.spring;

import dev.latchkey.jdbc.JdbcStore;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Locks in the database of the application. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({JdbcStore.class, DelegatingDataSource.class})
@ConditionalOnBean(DataSource.class)
class JdbcStoreConfiguration {

    @Bean
    StoreSource latchkeyJdbcSource(ObjectProvider<DataSource> dataSources) {
        return new StoreSource("jdbc", "jdbc (a DataSource)", () -> open(dataSources));
    }

    @Bean
    CommitCheck.OfStore latchkeyJdbcCommitCheck() {
        return store -> store instanceof JdbcStore jdbc ? new JdbcCommitCheck(jdbc) : CommitCheck.BY_THE_STORE;
    }

    private static OpenStore open(ObjectProvider<DataSource> dataSources) {
        DataSource dataSource = dataSources.getIfUnique();
        if (dataSource == null) {
            throw new LatchkeyConfigurationException(
                    "The application has several DataSources, and none of them is primary: locks could be kept in any.",
                    "Mark one with @Primary, or declare the store: @Bean JdbcStore lockStore(@Qualifier(\"orders\") DataSource"
                            + " dataSource) { return new JdbcStore(dataSource); }.");
        }
        if (JdbcCommitCheck.target(dataSource) instanceof AbstractRoutingDataSource) {
            throw new LatchkeyConfigurationException(
                    "The DataSource of the application leads to several databases, by "
                            + AbstractRoutingDataSource.class.getSimpleName()
                            + ": a lock in one of them does not exclude those who are led to another.",
                    "Declare the store over the database that all instances share: @Bean JdbcStore"
                            + " lockStore(@Qualifier(\"shared\") DataSource dataSource) { return new JdbcStore(dataSource); }.");
        }
        return OpenStore.of(new JdbcStore(outsideOfTransactions(dataSource)));
    }

    /** A lock must not be taken in a transaction of the application, nor be rolled back with it. */
    private static DataSource outsideOfTransactions(DataSource dataSource) {
        DataSource outside = dataSource;
        for (DataSource one = dataSource;
                one instanceof DelegatingDataSource wrapper && wrapper.getTargetDataSource() != null;
                one = wrapper.getTargetDataSource()) {
            if (wrapper instanceof TransactionAwareDataSourceProxy) {
                outside = wrapper.getTargetDataSource();
            }
        }
        return outside;
    }
}
