package dev.latchkey.spring;

import dev.latchkey.LockFactory;
import dev.latchkey.spi.PersistingStore;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.web.util.UriUtils;

/** The endpoint {@code lockconsole}. */
@AutoConfiguration(after = LatchkeyAutoConfiguration.class)
@ConditionalOnClass({ConditionalOnAvailableEndpoint.class, UriUtils.class})
@ConditionalOnBean(Acquirer.class)
@ConditionalOnAvailableEndpoint(LockConsoleEndpoint.class)
class LockConsoleEndpointAutoConfiguration {

    private static final EndpointId ID = EndpointId.of(LockConsoleEndpoint.ID);

    /** The store is opened when somebody first looks. */
    @Bean
    @ConditionalOnMissingBean
    LockConsoleEndpoint latchkeyLockConsoleEndpoint(
            ObjectProvider<LockFactory> factory,
            ObjectProvider<PersistingStore> store,
            LatchkeyProperties properties,
            ObjectProvider<PathMappedEndpoints> paths,
            EndpointAccessResolver access) {
        String prefix = properties.prefix();
        return new LockConsoleEndpoint(
                factory::getObject,
                () -> StoreName.of(store.getIfUnique()),
                prefix.isEmpty() ? "" : prefix + ":",
                () -> lastPart(paths.getObject()),
                access.accessFor(ID, Access.READ_ONLY));
    }

    /** The application may have given it another path. */
    private static String lastPart(PathMappedEndpoints paths) {
        String path = Objects.requireNonNull(paths.getRootPath(ID), LockConsoleEndpoint.ID);
        return UriUtils.encodePathSegment(path.substring(path.lastIndexOf('/') + 1), StandardCharsets.UTF_8);
    }
}
