package dev.annals.gremlin.server;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.Optional;
import org.apache.tinkerpop.gremlin.process.traversal.Bytecode;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.util.BytecodeHelper;
import org.apache.tinkerpop.gremlin.server.auth.AuthenticatedUser;
import org.apache.tinkerpop.gremlin.server.handler.StateKey;
import org.apache.tinkerpop.gremlin.util.Tokens;
import org.apache.tinkerpop.gremlin.util.message.RequestMessage;
import org.apache.tinkerpop.gremlin.util.message.ResponseMessage;
import org.apache.tinkerpop.gremlin.util.message.ResponseStatusCode;

/** Looks at each request: its client still has its token, and no request gives itself more time than the settings. */
@ChannelHandler.Sharable
final class RequestCheck extends ChannelInboundHandlerAdapter {
    private final long millisecondsMax;
    private final TokenAuthenticator tokens;

    RequestCheck(long millisecondsMax, TokenAuthenticator tokens) {
        this.millisecondsMax = millisecondsMax;
        this.tokens = tokens;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!(message instanceof RequestMessage request)) {
            context.fireChannelRead(message);
            return;
        }
        AuthenticatedUser user = context.channel().attr(StateKey.AUTHENTICATED_USER).get();
        if (tokens.requireAuthentication() && !tokens.stands(user)) {
            context.writeAndFlush(refusal(request, ResponseStatusCode.UNAUTHORIZED, "the token was revoked or has expired"))
                    .addListener(ChannelFutureListener.CLOSE);
            return;
        }
        Optional<String> fault = fault(request);
        if (fault.isPresent()) {
            context.writeAndFlush(
                    refusal(request, ResponseStatusCode.REQUEST_ERROR_INVALID_REQUEST_ARGUMENTS, fault.get()));
            return;
        }
        RequestMessage signed = signed(request, tokens.requireAuthentication() ? user.getName() : "");
        RequestExecutor.within(context.channel(), () -> context.fireChannelRead(signed));
    }

    private Optional<String> fault(RequestMessage request) {
        Object limit = request.getArgs().get(Tokens.ARGS_EVAL_TIMEOUT);
        if (limit != null && !(limit instanceof Number number && isWithin(number.longValue()))) {
            return Optional.of("evaluationTimeout: expected 1 to " + millisecondsMax + " milliseconds, found " + limit);
        }
        if (request.getArgs().get(Tokens.ARGS_GREMLIN) instanceof Bytecode bytecode
                && BytecodeHelper.getLambdaLanguage(bytecode).isPresent()) {
            return Optional.of("lambda: expected steps of Gremlin; a lambda is a script, and the server runs none");
        }
        return Optional.empty();
    }

    private boolean isWithin(long milliseconds) {
        return 1 <= milliseconds && milliseconds <= millisecondsMax;
    }

    /**
     * The request with the name of its client, which is empty without tokens. Drivers name Groovy, or nothing, beside each
     * text; it is read as Gremlin.
     */
    private static RequestMessage signed(RequestMessage request, String name) {
        RequestMessage.Builder signed = RequestMessage.from(request).addArg(TokenAuthor.ARGUMENT, name);
        if (request.getOp().equals(Tokens.OPS_EVAL)) {
            signed.addArg(Tokens.ARGS_LANGUAGE, "gremlin-lang");
        }
        // A commit and a rollback have no steps.
        if (request.getArgs().get(Tokens.ARGS_GREMLIN) instanceof Bytecode bytecode
                && !bytecode.getStepInstructions().isEmpty()) {
            // Order: last, so that no strategy that the client names replaces it.
            bytecode.addSource(TraversalSource.Symbols.withStrategies, new TokenAuthor(name));
        }
        return signed.create();
    }

    private static ResponseMessage refusal(RequestMessage request, ResponseStatusCode code, String text) {
        return ResponseMessage.build(request).code(code).statusMessage(text).create();
    }
}
