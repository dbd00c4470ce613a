package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** A defect: shows a store as one that reserves no tokens, but gives each grant the number after that of the grant before. */
final class DenseTokens {

    private final Map<String, OptionalLong> tokens = new HashMap<>();
    private long last;

    /** The request with the token that the store knows. */
    Request asked(Request request) {
        return request.with(asked(request.key()));
    }

    Key asked(Key key) {
        return key.held()
                .filter(claimed -> claimed.mode() == LockMode.EXCLUSIVE)
                .map(claimed -> key.claiming(Optional.of(
                        new Key.Held(LockMode.EXCLUSIVE, tokens.getOrDefault(key.token(), claimed.fencingToken())))))
                .orElse(key);
    }

    /** The answer with the token that is shown. */
    Response shown(Key key, Response response) {
        if (!(response instanceof Response.Granted granted) || granted.mode() != LockMode.EXCLUSIVE) {
            return response;
        }
        OptionalLong claimed = key.held().map(Key.Held::fencingToken).orElse(OptionalLong.empty());
        tokens.put(key.token(), granted.fencingToken());
        return new Response.Granted(
                granted.mode(), claimed.isPresent() ? claimed : OptionalLong.of(++last), granted.lease());
    }
}
