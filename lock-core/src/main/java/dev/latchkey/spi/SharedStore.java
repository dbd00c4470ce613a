package dev.latchkey.spi;

/**
 * A store that honours {@link dev.latchkey.LockMode#SHARED} in every operation; each shared hold expires by itself. On a
 * store that is not, sharing takes the exclusive lock.
 */
public interface SharedStore extends PersistingStore {}
