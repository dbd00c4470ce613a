package dev.latchkey.testkit;

import dev.latchkey.Key;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import java.util.Optional;

/** A member that keeps no token: it cannot tell one hold of a key from the next. */
record Unfenced(FaultyStore member) implements SharedStore, ExpiringStore {

    @Override
    public Response save(Request request) {
        return member.save(request);
    }

    @Override
    public Response refresh(Request request) {
        return member.refresh(request);
    }

    @Override
    public boolean delete(Key key) {
        return member.delete(key);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return member.find(key);
    }
}
