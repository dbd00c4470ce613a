package dev.latchkey.testkit.planted;

import dev.latchkey.Key;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import java.util.Optional;

/** Keeps all rules, and holds nothing. */
public final class ObedientStore implements SharedStore, ProcessBound {

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

    @Override
    public String reason() {
        return "it holds nothing";
    }

    /** Public, but nested. */
    public static final class Builder {

        /** Makes a builder. */
        public Builder() {}

        /**
         * Makes the store.
         *
         * @return a new one
         */
        public PersistingStore build() {
            return new ObedientStore();
        }
    }
}
