package dev.latchkey.testkit;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.Permits;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.spi.SemaphoreStore;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What a {@link PermitStore} answers, whoever asks: a part of {@link SemaphoreContract}. */
public interface PermitStoreContract extends StoreContract {

    private static PermitStore permits(Fixture fixture) {
        return fixture.store(SemaphoreStore.class).permits();
    }

    private static Request request(Key key, Duration ttl) {
        return new Request(key, LockMode.SHARED, ttl, RetryIntent.ONCE);
    }

    @Test
    default void givenARequestIsRepeated_whenTheSameKeyAsksAgain_thenItHoldsNoMoreThanBefore(Fixture fixture) {
        PermitStore store = permits(fixture);
        Key key = Key.of(new Permits(fixture.resource(), 2, 3).resource());

        assertThat(store.save(request(key, LONG_TTL))).isInstanceOf(Response.Granted.class);
        assertThat(store.save(request(key, LONG_TTL))).isInstanceOf(Response.Granted.class);

        assertThat(store.permitHolders(fixture.resource())).hasSize(1);
        assertThat(store.find(key)).isPresent();
        assertThat(Semaphores.of(fixture, 3).available()).isEqualTo(1);
        assertThat(store.delete(key)).isTrue();
        assertThat(store.delete(key)).isFalse();
        assertThat(store.find(key)).isEmpty();
    }

    @Test
    default void givenNothingIsHeld_whenAClaimIsMadeOrARefreshAsked_thenItIsLost(Fixture fixture) {
        PermitStore store = permits(fixture);
        Key key = Key.of(new Permits(fixture.resource(), 1, 1).resource());
        Key claiming = key.claiming(Optional.of(new Key.Held(LockMode.SHARED, OptionalLong.empty())));

        assertThat(store.save(request(claiming, LONG_TTL))).isInstanceOf(Response.Lost.class);
        assertThat(store.refresh(request(claiming, LONG_TTL))).isInstanceOf(Response.Lost.class);

        assertThat(store.permitHolders(fixture.resource())).isEmpty();
    }

    @Test
    default void givenALongLease_whenAskedForAShorterOne_thenItEndsSoonerOnlyIfThatIsSet(Fixture fixture) {
        PermitStore store = permits(fixture);
        Key key = Key.of(new Permits(fixture.resource(), 1, 1).resource());
        assertThat(store.save(request(key, LONG_TTL))).isInstanceOf(Response.Granted.class);

        Duration shorter = TimeLimits.LIMIT;
        Response unused = store.refresh(request(key, shorter));
        assertThat(store.permitHolders(fixture.resource()))
                .allMatch(holder -> holder.remaining().compareTo(shorter) > 0);
        Response set = store.refresh(request(key, shorter).with(LeaseChange.SET));

        assertThat(set).isInstanceOf(Response.Granted.class);
        assertThat(store.permitHolders(fixture.resource()))
                .allMatch(holder -> holder.remaining().compareTo(shorter) <= 0);
        assertThat(store.delete(key)).isTrue();
    }
}
