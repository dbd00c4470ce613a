package dev.latchkey.redis;

import java.util.List;

/**
 * A script to run, with its keys and arguments.
 *
 * @param resource the resource, or the first of several; failures name it
 */
record ScriptRequest(String resource, Script script, List<byte[]> keys, List<byte[]> args) {

    /** Returns the same request, marked as one that must not be sent twice. */
    ScriptRequest once() {
        return new ScriptRequest(resource, script.once(), keys, args);
    }
}
