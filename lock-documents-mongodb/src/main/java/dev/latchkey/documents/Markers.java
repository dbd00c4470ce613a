package dev.latchkey.documents;

/** What two-phase transactions leave in the documents they change, until they are over. */
final class Markers {

    static final String FIELD = "_transactions";

    private Markers() {}
}
