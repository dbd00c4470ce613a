package dev.latchkey;

import org.jspecify.annotations.Nullable;

/** The superclass of all exceptions of locks. Each one belongs to one {@linkplain #resource() resource}. */
public abstract sealed class LockException extends RuntimeException
        permits LockConflictedException, LockLostException, LockStorageException, UnserializableKeyException {

    private static final int LONGEST_SHOWN = 200;

    private final String resource;

    LockException(String resource, String problem, @Nullable Throwable cause) {
        super("lock \"" + shown(resource) + "\": " + problem, cause);
        this.resource = resource;
    }

    /**
     * Returns the complete name of what the lock protects.
     *
     * @return the name as it was passed to the factory; the message may contain a shortened form
     */
    public String resource() {
        return resource;
    }

    /** A resource may be 10 kB of anything: a message or a log line gets it short and on one line. */
    static String shown(String resource) {
        String start = resource.length() <= LONGEST_SHOWN
                ? resource
                : resource.substring(0, LONGEST_SHOWN) + "… (" + resource.length() + " characters)";
        return start.chars().noneMatch(Character::isISOControl)
                ? start
                : start.codePoints()
                        .collect(StringBuilder::new, LockException::appendVisibly, StringBuilder::append)
                        .toString();
    }

    private static void appendVisibly(StringBuilder text, int codePoint) {
        if (Character.isISOControl(codePoint)) {
            text.append(String.format("\\u%04x", codePoint));
        } else {
            text.appendCodePoint(codePoint);
        }
    }
}
