package dev.annals.gremlin.server;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads of requests outside sessions. A request ends with its connection: its thread is interrupted, which a
 * traversal looks at with each step. Gremlin Server itself ends the sessions of a connection.
 */
final class RequestExecutor extends ThreadPoolExecutor {
    /** The connection whose request this thread, one of Netty's, hands on at present. */
    private static final ThreadLocal<Channel> CHANNEL = new ThreadLocal<>();

    RequestExecutor(int threads, int waitingMax) {
        super(threads, threads, 0, TimeUnit.MILLISECONDS, new ArrayBlockingQueue<>(waitingMax), (task, executor) -> {
            if (task instanceof FutureTask<?> refused) {
                refused.cancel(false);
            }
            throw new RejectedExecutionException("too many requests wait");
        });
    }

    /** Does the work, and lets what it submits end with the connection. */
    static void within(Channel channel, Runnable work) {
        CHANNEL.set(channel);
        try {
            work.run();
        } finally {
            CHANNEL.remove();
        }
    }

    @Override
    protected <T> RunnableFuture<T> newTaskFor(Callable<T> callable) {
        Channel channel = CHANNEL.get();
        return channel == null ? super.newTaskFor(callable) : new Request<>(callable, channel).watched();
    }

    @Override
    protected <T> RunnableFuture<T> newTaskFor(Runnable runnable, T value) {
        return newTaskFor(() -> {
            runnable.run();
            return value;
        });
    }

    private static final class Request<T> extends FutureTask<T> implements GenericFutureListener<Future<Void>> {
        private final Channel channel;

        Request(Callable<T> callable, Channel channel) {
            super(callable);
            this.channel = channel;
        }

        Request<T> watched() {
            channel.closeFuture().addListener(this);
            return this;
        }

        @Override
        public void operationComplete(Future<Void> closed) {
            cancel(true);
        }

        @Override
        protected void done() {
            channel.closeFuture().removeListener(this);
        }
    }
}
