package dev.latchkey.testkit.planted;

import dev.latchkey.Key;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.Optional;

/** Not final. */
public class OpenStore implements PersistingStore {

    @Override
    public Response save(Request request) {
        return Response.Conflicted.NO_HINT;
    }

    @Override
    public boolean delete(Key key) {
        return false;
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return Optional.empty();
    }
}
