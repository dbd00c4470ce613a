package dev.latchkey.cli.top;

/** What a key asks for, beyond what the screen shows. */
public sealed interface Action {

    /** Nothing. */
    record Stay() implements Action {}

    /** To draw the screen anew. */
    record Redraw() implements Action {}

    /** To end the program. */
    record Quit() implements Action {}

    /**
     * To end a hold, whose fencing token was typed.
     *
     * @param resource its resource
     * @param fencingToken that of the hold
     */
    record EndHold(String resource, long fencingToken) implements Action {}
}
