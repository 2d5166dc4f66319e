package org.codehaus.groovy.control;

/**
 * Nothing makes one. Gremlin Server compares each error of a request with this class of Groovy, which is not on the
 * class path.
 */
public final class MultipleCompilationErrorsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private MultipleCompilationErrorsException() {}
}
