package dev.annals.egeria;

import dev.annals.AnnalsException;
import org.odpi.openmetadata.frameworks.auditlog.messagesets.ExceptionMessageDefinition;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.ClassificationErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityConflictException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotDeletedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PagingErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.PropertyErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RelationshipConflictException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RelationshipNotDeletedException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RelationshipNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryTimeoutException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.StatusNotSupportedException;

/**
 * Turns refusals of Annals into the exceptions of Egeria.
 *
 * <p>Each method throws if the error is of its kind, and does nothing otherwise; {@link #other} is the last one.
 */
final class Failures {
    private static final String CLASS = AnnalsMetadataCollection.class.getName();

    private Failures() {}

    /** The message of an exception. Annals says what was expected and what was found. */
    static ExceptionMessageDefinition definition(Throwable error, String method) {
        String kind = error instanceof AnnalsException known ? known.kind() : "internal";
        String text = "Annals refused " + method + ": " + error.getMessage();
        return definition(status(kind), "ANNALS-" + kind.toUpperCase(java.util.Locale.ROOT), text);
    }

    static ExceptionMessageDefinition definition(int status, String id, String text) {
        return new ExceptionMessageDefinition(
                status,
                id,
                quoted(text),
                "The repository did nothing.",
                "Correct the call; docs/errors.md of Annals has the remedy of each kind of error.");
    }

    /** A text as a template of Egeria, which has numbered places, in which braces and quotes have a meaning. */
    static String quoted(String text) {
        return text.replace("'", "''").replace("{", "'{'").replace("}", "'}'");
    }

    /** An instance of this collection is no copy. */
    static ExceptionMessageDefinition home(String guid) {
        return definition(
                400, "ANNALS-NOT-DELETED", "expected a copy, or a deleted instance of this collection, found " + guid);
    }

    private static int status(String kind) {
        return switch (kind) {
            case "not-found", "deleted" -> 404;
            case "conflict", "already-exists", "home-conflict", "not-deleted", "not-unique", "missing-end" -> 409;
            case "unavailable", "outcome-unknown", "not-writer", "busy", "internal", "closed", "io" -> 503;
            case "no-room", "time-out", "cancelled" -> 503;
            default -> 400;
        };
    }

    static boolean isUnknown(AnnalsException error) {
        return error.kind().equals("not-found") || error.kind().equals("deleted");
    }

    static void entity(AnnalsException error, String method) throws EntityNotKnownException {
        if (isUnknown(error)) {
            throw new EntityNotKnownException(definition(error, method), CLASS, method, error);
        }
    }

    static void end(AnnalsException error, String method) throws EntityNotKnownException {
        if (isUnknown(error) || error.kind().equals("missing-end")) {
            throw new EntityNotKnownException(definition(error, method), CLASS, method, error);
        }
    }

    static void relationship(AnnalsException error, String method) throws RelationshipNotKnownException {
        if (isUnknown(error)) {
            throw new RelationshipNotKnownException(definition(error, method), CLASS, method, error);
        }
    }

    static void entityNotDeleted(AnnalsException error, String method) throws EntityNotDeletedException {
        if (error.kind().equals("not-deleted")) {
            throw new EntityNotDeletedException(definition(error, method), CLASS, method, error);
        }
    }

    static void relationshipNotDeleted(AnnalsException error, String method) throws RelationshipNotDeletedException {
        if (error.kind().equals("not-deleted")) {
            throw new RelationshipNotDeletedException(definition(error, method), CLASS, method, error);
        }
    }

    static void entityConflict(AnnalsException error, String method) throws EntityConflictException {
        if (error.kind().equals("home-conflict") || error.kind().equals("already-exists")) {
            throw new EntityConflictException(definition(error, method), CLASS, method, error);
        }
    }

    static void relationshipConflict(AnnalsException error, String method) throws RelationshipConflictException {
        if (error.kind().equals("home-conflict") || error.kind().equals("already-exists")) {
            throw new RelationshipConflictException(definition(error, method), CLASS, method, error);
        }
    }

    static void property(AnnalsException error, String method) throws PropertyErrorException {
        if (error.kind().equals("invalid-property")) {
            throw new PropertyErrorException(definition(error, method), CLASS, method, error);
        }
    }

    static void classification(AnnalsException error, String method) throws ClassificationErrorException {
        if (error.kind().equals("invalid-classification")) {
            throw new ClassificationErrorException(definition(error, method), CLASS, method, error);
        }
    }

    static void status(AnnalsException error, String method) throws StatusNotSupportedException {
        if (error.kind().equals("status-not-allowed")) {
            throw new StatusNotSupportedException(definition(error, method), CLASS, method, error);
        }
    }

    static void page(AnnalsException error, String method) throws PagingErrorException {
        if (error.kind().equals("invalid-page")) {
            throw new PagingErrorException(definition(error, method), CLASS, method, error);
        }
    }

    /** The exceptions that every method of Egeria declares. */
    static RepositoryErrorException other(AnnalsException error, String method) throws InvalidParameterException {
        ExceptionMessageDefinition definition = definition(error, method);
        switch (error.kind()) {
            case "not-home",
                    "wrong-type",
                    "invalid-ends",
                    "missing-end",
                    "invalid-argument",
                    "invalid-expression",
                    "invalid-property",
                    "already-exists",
                    "home-conflict",
                    "proxy-only" -> throw new InvalidParameterException(definition, CLASS, method, error, "instance");
            case "time-out", "cancelled" -> {
                return new RepositoryTimeoutException(definition, CLASS, method, error);
            }
            default -> {
                return new RepositoryErrorException(definition, CLASS, method, error);
            }
        }
    }

    static RepositoryErrorException repository(String text, String method) {
        return new RepositoryErrorException(definition(500, "ANNALS-STORED-FORM", text), CLASS, method);
    }

    static InvalidParameterException parameter(String text, String method, String name) {
        return new InvalidParameterException(definition(400, "ANNALS-INVALID-ARGUMENT", text), CLASS, method, name);
    }
}
