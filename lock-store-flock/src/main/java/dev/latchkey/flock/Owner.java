package dev.latchkey.flock;

/** One would-be holder: two stores are rivals, even with the same key. */
record Owner(ResourceFiles store, String token) {}
