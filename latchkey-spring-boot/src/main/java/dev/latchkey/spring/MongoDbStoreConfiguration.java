package dev.latchkey.spring;

import com.mongodb.client.MongoClient;
import dev.latchkey.mongodb.MongoDbStore;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.mongodb.autoconfigure.MongoConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Locks in the MongoDB of the application. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({MongoDbStore.class, MongoClient.class, MongoConnectionDetails.class})
@ConditionalOnBean(MongoClient.class)
class MongoDbStoreConfiguration {

    private static final String COLLECTION = "latchkey_lock";

    @Bean
    StoreSource latchkeyMongoDbSource(
            ObjectProvider<MongoClient> clients,
            ObjectProvider<MongoConnectionDetails> connections,
            Environment environment) {
        return new StoreSource(
                "mongodb",
                "mongodb (a MongoClient)",
                () -> open(clients, database(environment, connections.getIfUnique())));
    }

    /** That of the application's own documents. */
    private static String database(Environment environment, @Nullable MongoConnectionDetails connection) {
        String named = environment.getProperty("spring.mongodb.database");
        if (named == null && connection != null) {
            named = connection.getConnectionString().getDatabase();
        }
        return named == null ? "test" : named;
    }

    private static OpenStore open(ObjectProvider<MongoClient> clients, String database) {
        MongoClient client = clients.getIfUnique();
        if (client == null) {
            throw new LatchkeyConfigurationException(
                    "The application has several MongoClients, and none of them is primary: locks could be kept in any.",
                    "Mark one with @Primary, or declare the store as a bean: MongoDbStore.builder(client).database(name).build().");
        }
        return OpenStore.of(MongoDbStore.builder(client)
                .database(database)
                .collection(COLLECTION)
                .build());
    }
}
