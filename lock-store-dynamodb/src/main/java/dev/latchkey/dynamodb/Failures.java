package dev.latchkey.dynamodb;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;

/** Says what failed, how far the request got, and what would help. */
final class Failures {

    private static final Set<String> DENIALS = Set.of(
            "AccessDeniedException",
            "UnrecognizedClientException",
            "RequestTimeTooSkewed",
            "MissingAuthenticationTokenException",
            "ExpiredTokenException",
            "InvalidClientTokenId");

    /** Their messages repeat what was signed, and with it headers of the request, such as the token of a session. */
    private static final Set<String> SIGNATURES = Set.of("InvalidSignatureException", "IncompleteSignatureException");

    private static final int FIRST_SERVER_ERROR = 500;

    private Failures() {}

    static LockStorageException of(String resource, SdkException e, Repetitions repetitions) {
        if (e instanceof ResourceNotFoundException) {
            return new LockStorageException(
                    resource,
                    "DynamoDB has no such table in this region: create it with createTable(), or with ?create-table=true in the DSN",
                    e,
                    Failure.NOT_SENT);
        }
        if (e instanceof DynamoDbException answer && answer.awsErrorDetails() != null) {
            return refused(resource, answer, answer.awsErrorDetails(), repetitions);
        }
        if (String.valueOf(e.getMessage()).startsWith("Unable to load credentials")) {
            return new LockStorageException(
                    resource,
                    "the AWS SDK finds no credentials: neither in its environment variables and system properties, nor a profile or a role",
                    e,
                    repetitions.after(e, Failure.NOT_SENT));
        }
        if (isUnconnected(e)) {
            return new LockStorageException(
                    resource,
                    "DynamoDB could not be reached: " + e.getMessage(),
                    e,
                    repetitions.after(e, Failure.NOT_SENT));
        }
        return new LockStorageException(resource, "DynamoDB failed or did not answer: " + e.getMessage(), e);
    }

    private static LockStorageException refused(
            String resource, DynamoDbException e, AwsErrorDetails details, Repetitions repetitions) {
        String code = details.errorCode();
        if (SIGNATURES.contains(code)) {
            return new LockStorageException(
                    resource,
                    "DynamoDB refused the signature of the request (" + code + ")",
                    null,
                    repetitions.after(e, Failure.DENIED));
        }
        if (DENIALS.contains(code)) {
            return new LockStorageException(
                    resource,
                    "DynamoDB refused (" + code + "): " + details.errorMessage(),
                    e,
                    repetitions.after(e, Failure.DENIED));
        }
        if (e.isThrottlingException()) {
            return new LockStorageException(
                    resource,
                    "DynamoDB throttled the request (" + code + "). Has the table enough capacity?",
                    e,
                    repetitions.after(e, Failure.NOT_SENT));
        }
        Failure failure = e.statusCode() < FIRST_SERVER_ERROR ? Failure.NOT_SENT : Failure.IN_DOUBT;
        return new LockStorageException(
                resource,
                "DynamoDB failed (" + code + "): " + details.errorMessage(),
                e,
                repetitions.after(e, failure));
    }

    /**
     * Whether nothing was sent yet. The JDK does not repeat a request whose connection broke, since the SDK streams it, so a refused
     * connection is that of the only try.
     */
    private static boolean isUnconnected(SdkException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnknownHostException || cause instanceof ConnectException) {
                return true;
            }
        }
        return false;
    }

    static LockStorageException closed(String resource) {
        return new LockStorageException(resource, "the store was closed", null, Failure.NOT_SENT);
    }

    /** What is stored under the name of the resource, or the counter of the table, was not written by this store. */
    static LockStorageException foreignItem(String resource, String attribute) {
        return new LockStorageException(
                resource, "an item of the table has no number " + attribute + ": it is not of this store", null);
    }

    /** After so many changes of others in a row, the state is not known. */
    static LockStorageException unsettled(String resource) {
        return new LockStorageException(
                resource, "its item was changed by others again and again while it was looked at", null);
    }
}
