package dev.latchkey.spi;

/** A store whose holds end with this process: its keys cannot be serialized. */
public interface ProcessBound {

    /**
     * Returns what binds the holds to this process.
     *
     * @return the end of the sentence "its key cannot be serialized: …"
     */
    String reason();
}
