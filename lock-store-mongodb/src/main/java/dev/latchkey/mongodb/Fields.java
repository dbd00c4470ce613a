package dev.latchkey.mongodb;

/**
 * The fields of a lock's document, and of a state index. Of a lock all but the first are always there; those of nobody are
 * null.
 */
final class Fields {

    static final String RESOURCE = "_id";

    /** The version of this format: also what tells our documents from those of others. */
    static final String FORMAT = "latchkey";

    /** Who holds it exclusively, or did last if that lease has ended since. */
    static final String TOKEN = "token";

    /** Which call made the change: tells the caller whether it was granted. */
    static final String REQUEST = "request";

    /** For people. */
    static final String HOLDER = "holder";

    /** When the exclusive hold was granted or renewed. */
    static final String RENEWED_AT = "renewed_at";

    /** When the last lease ends, exclusive or shared. */
    static final String EXPIRES_AT = "expires_at";

    static final String FENCING_TOKEN = "fencing_token";

    /** Who shares it: token, request, holder, expires_at; also those whose lease has ended until another is granted it. */
    static final String READERS = "readers";

    /** The reader that waits to become the writer: token, request, until. */
    static final String PROMOTER = "promoter";

    static final String UNTIL = "until";

    /** When the document may go. */
    static final String KEPT_UNTIL = "kept_until";

    /** In the {@code _id} of a state index, which is a document of this one field: the resource. */
    static final String INDEX_OF = "index_of";

    /** Of a state index: the last change by somebody who held the resource exclusively. */
    static final String EXCLUSIVE = "exclusive";

    /** Of a state index: the last change by somebody who held the resource shared. */
    static final String SHARED = "shared";

    /** Of what is read, not stored: the server's clock. */
    static final String NOW = "now";

    static final int FORMAT_1 = 1;

    private Fields() {}
}
