package annals.lab.egeria;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceGraph;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.repositoryconnector.OMRSRepositoryConnector;
import org.springframework.cglib.proxy.Callback;
import org.springframework.cglib.proxy.Enhancer;
import org.springframework.cglib.proxy.Factory;
import org.springframework.cglib.proxy.MethodInterceptor;
import org.springframework.cglib.proxy.MethodProxy;
import org.springframework.objenesis.ObjenesisStd;

/**
 * Writes a line for each call that the suite makes to a repository. The suite itself keeps whole milliseconds.
 *
 * <p>Shape of a line: seq,test,method,ns,results,outcome. The test is the class of the suite that made the call, or `-`;
 * the outcome is `ok` or the name of the exception.
 */
final class TimedCollection implements MethodInterceptor {
    private static final StackWalker STACK = StackWalker.getInstance();

    private final OMRSMetadataCollection measured;
    private final Writer lines;
    /** Locked by `this`, as the lines are: after the end no call begins and no line is written. */
    private boolean isEnded;
    private long count;

    private TimedCollection(OMRSMetadataCollection measured, Path file) throws IOException {
        this.measured = measured;
        lines = new BufferedWriter(Files.newBufferedWriter(file));
        lines.write("seq,test,method,ns,results,outcome\n");
    }

    static TimedCollection of(OMRSMetadataCollection measured, Path file) throws IOException {
        return new TimedCollection(measured, file);
    }

    /** A connector for the suite, whose collection writes the lines. */
    OMRSRepositoryConnector connector(OMRSRepositoryConnector repository) {
        Enhancer enhancer = new Enhancer();
        enhancer.setSuperclass(OMRSMetadataCollection.class);
        enhancer.setCallbackType(MethodInterceptor.class);
        // The class has no constructor without arguments.
        Object collection = new ObjenesisStd().newInstance(enhancer.createClass());
        ((Factory) collection).setCallbacks(new Callback[] {this});
        return new Connector(repository, (OMRSMetadataCollection) collection);
    }

    /** Writes what is left, and holds every further call for ever. */
    synchronized void end() throws IOException {
        isEnded = true;
        lines.close();
    }

    @Override
    public Object intercept(Object proxy, Method method, Object[] arguments, MethodProxy unused) throws Throwable {
        waitIfEnded();
        Object result = null;
        String outcome = "ok";
        long start = System.nanoTime();
        long elapsed;
        try {
            result = method.invoke(measured, arguments);
            elapsed = System.nanoTime() - start;
        } catch (InvocationTargetException error) {
            elapsed = System.nanoTime() - start;
            outcome = error.getCause().getClass().getSimpleName();
            write(method, elapsed, 0, outcome);
            throw error.getCause();
        }
        write(method, elapsed, elements(result), outcome);
        return result;
    }

    private synchronized void waitIfEnded() throws InterruptedException {
        while (isEnded) {
            wait();
        }
    }

    private synchronized void write(Method method, long elapsed, int elements, String outcome) throws IOException {
        if (!isEnded) {
            lines.write(count + "," + test() + "," + method.getName() + "," + elapsed + "," + elements + "," + outcome + "\n");
            count++;
        }
    }

    /** The innermost class of the suite, without the base of all. */
    private static String test() {
        String name = STACK.walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
            .filter(one -> one.contains(".tests.performance.") && !one.endsWith(".OpenMetadataPerformanceTestCase"))
            .findFirst().orElse("-"));
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static int elements(Object result) {
        if (result instanceof Collection) {
            return ((Collection<?>) result).size();
        }
        if (result instanceof InstanceGraph) {
            Collection<?> entities = ((InstanceGraph) result).getEntities();
            return entities == null ? 0 : entities.size();
        }
        return result == null ? 0 : 1;
    }

    private static final class Connector extends OMRSRepositoryConnector {
        Connector(OMRSRepositoryConnector repository, OMRSMetadataCollection collection) {
            metadataCollection = collection;
            repositoryHelper = repository.getRepositoryHelper();
            repositoryValidator = repository.getRepositoryValidator();
            metadataCollectionId = repository.getMetadataCollectionId();
            metadataCollectionName = repository.getMetadataCollectionName();
            serverName = LocalRepository.SERVER;
        }

        @Override
        public OMRSMetadataCollection getMetadataCollection() {
            return metadataCollection;
        }
    }
}
