package dev.latchkey.mongodb;

/**
 * The fields of a lock's document and of a state index. In the document of a lock, all fields but the first are always present;
 * they are null if nobody holds the lock.
 */
final class Fields {

    static final String RESOURCE = "_id";

    /** The version of this format, which also distinguishes the documents of this store from others. */
    static final String FORMAT = "latchkey";

    /** The exclusive holder, or the last one if its lease has ended. */
    static final String TOKEN = "token";

    /** The request that made the last change, by which the caller recognizes its grant. */
    static final String REQUEST = "request";

    /** A description of the holder, for people. */
    static final String HOLDER = "holder";

    /** The time at which the exclusive hold was granted or renewed. */
    static final String RENEWED_AT = "renewed_at";

    /** The end of the last lease, exclusive or shared. */
    static final String EXPIRES_AT = "expires_at";

    static final String FENCING_TOKEN = "fencing_token";

    /** The shared holders: token, request, holder, expires_at. Includes ended ones until the lock is granted again. */
    static final String READERS = "readers";

    /** The shared holder that waits for promotion: token, request, until. */
    static final String PROMOTER = "promoter";

    static final String UNTIL = "until";

    /** The time after which the document may be deleted. */
    static final String KEPT_UNTIL = "kept_until";

    /** The resource, which is the only field in the {@code _id} of a state index. */
    static final String INDEX_OF = "index_of";

    /** In a state index: the last change under an exclusive hold. */
    static final String EXCLUSIVE = "exclusive";

    /** In a state index: the last change under a shared hold. */
    static final String SHARED = "shared";

    /** The server's clock, which is read and not stored. */
    static final String NOW = "now";

    static final int FORMAT_1 = 1;

    private Fields() {}
}
