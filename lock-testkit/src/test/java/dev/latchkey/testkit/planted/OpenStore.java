package dev.latchkey.testkit.planted;

import dev.latchkey.Key;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import java.util.Optional;

/** Not final. */
public class OpenStore implements PersistingStore {

    @Override
    public Attempt save(Request request) {
        return Attempt.Conflicted.NO_HINT;
    }

    @Override
    public boolean delete(Key key) {
        return false;
    }

    @Override
    public Optional<Attempt.Granted> find(Key key) {
        return Optional.empty();
    }
}
