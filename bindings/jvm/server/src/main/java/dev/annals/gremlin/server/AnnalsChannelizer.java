package dev.annals.gremlin.server;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketServerCompressionHandler;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.apache.tinkerpop.gremlin.server.Settings;
import org.apache.tinkerpop.gremlin.server.channel.WebSocketChannelizer;
import org.apache.tinkerpop.gremlin.server.util.ServerGremlinExecutor;

/** Gremlin Server's WebSocket, behind a check of each connection and of each request. There is no HTTP. */
public final class AnnalsChannelizer extends WebSocketChannelizer {
    private HandshakeCheck handshakes;
    private RequestCheck requests;
    private boolean hasTokens;

    /** A channelizer, as Gremlin Server makes it. */
    public AnnalsChannelizer() {}

    /** Errors: settings that would let in more than tokens allow. */
    @Override
    public void init(ServerGremlinExecutor executor) {
        super.init(executor);
        if (!(authenticator instanceof TokenAuthenticator tokens)) {
            throw new IllegalArgumentException("authentication: expected the authenticator "
                    + TokenAuthenticator.class.getName() + ", found " + settings.authentication.authenticator);
        }
        if (settings.getEvaluationTimeout() <= 0) {
            throw new IllegalArgumentException(
                    "evaluationTimeout: expected a number of milliseconds, found " + settings.getEvaluationTimeout());
        }
        hasTokens = tokens.requireAuthentication();
        checkPlace(settings, hasTokens);
        handshakes = new HandshakeCheck(settings.host, tokens.hosts());
        requests = new RequestCheck(settings.getEvaluationTimeout(), tokens);
    }

    private static void checkPlace(Settings settings, boolean hasTokens) {
        InetAddress listen;
        try {
            listen = InetAddress.getByName(settings.host);
        } catch (UnknownHostException error) {
            throw new IllegalArgumentException("host: expected an address of this machine, found " + settings.host, error);
        }
        if (listen.isLoopbackAddress()) {
            return;
        }
        if (!hasTokens) {
            throw new IllegalArgumentException("host " + settings.host + ": other machines can reach it, so expected tokens"
                    + " under authentication.config; without tokens use 127.0.0.1");
        }
        if (settings.ssl == null || !settings.ssl.enabled) {
            throw new IllegalArgumentException("host " + settings.host + ": tokens would pass the network unencrypted, so"
                    + " expected TLS under ssl; without it use 127.0.0.1");
        }
    }

    @Override
    public void configure(ChannelPipeline pipeline) {
        super.configure(pipeline);
        // Order: before the handshake, which Netty puts before the request handler.
        pipeline.addAfter(PIPELINE_HTTP_AGGREGATOR, "handshake-check", handshakes);
        pipeline.replace(
                PIPELINE_WEBSOCKET_SERVER_COMPRESSION,
                PIPELINE_WEBSOCKET_SERVER_COMPRESSION,
                new WebSocketServerCompressionHandler(settings.maxContentLength));
        if (!hasTokens) {
            pipeline.remove(PIPELINE_AUTHENTICATOR);
        }
    }

    @Override
    public void finalize(ChannelPipeline pipeline) {
        pipeline.addBefore(PIPELINE_OP_SELECTOR, "request-check", requests);
    }
}
