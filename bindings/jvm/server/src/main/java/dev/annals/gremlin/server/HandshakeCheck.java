package dev.annals.gremlin.server;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lets only the handshakes of WebSockets pass that name this server, and that no web page of another origin makes. A
 * browser asks nobody before it connects a page with this machine, but it says the page's origin, and the name by which
 * the page calls the server.
 */
@ChannelHandler.Sharable
final class HandshakeCheck extends ChannelInboundHandlerAdapter {
    private static final HttpResponseStatus MISDIRECTED = new HttpResponseStatus(421, "Misdirected Request");
    /** A host of a header: an address of IPv6 in brackets, or a name or an address of IPv4; and a port. */
    private static final Pattern AUTHORITY = Pattern.compile("(\\[[0-9a-f:.]+]|[0-9a-z._-]+)(:[0-9]{1,5})?");
    private static final Pattern NUMERIC = Pattern.compile("\\[.*]|[0-9.]+");

    private final String listen;
    private final boolean isEverywhere;
    private final Set<String> hosts;

    /** Errors: a host that is no name. */
    HandshakeCheck(String listen, List<String> given) {
        this.listen = listen.toLowerCase(Locale.ROOT);
        isEverywhere = address(this.listen).map(InetAddress::isAnyLocalAddress).orElse(false);
        hosts = new HashSet<>(Set.of("localhost"));
        for (String host : given) {
            String small = host.toLowerCase(Locale.ROOT);
            Matcher found = AUTHORITY.matcher(small);
            if (!found.matches() || found.group(2) != null) {
                throw new IllegalArgumentException("hosts: expected a name or an address without port, found " + host);
            }
            hosts.add(small);
        }
    }

    /** Never asks for the address of a name. */
    private static Optional<InetAddress> address(String host) {
        boolean isNumeric = NUMERIC.matcher(host).matches() || host.contains(":");
        try {
            return isNumeric ? Optional.of(InetAddress.getByName(host)) : Optional.empty();
        } catch (UnknownHostException error) {
            return Optional.empty();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!(message instanceof FullHttpRequest request)) {
            // A frame of a WebSocket whose handshake passed.
            context.fireChannelRead(message);
            return;
        }
        Optional<FullHttpResponse> refusal = refusal(request);
        if (refusal.isEmpty()) {
            context.fireChannelRead(message);
            return;
        }
        ReferenceCountUtil.release(message);
        context.writeAndFlush(refusal.get()).addListener(ChannelFutureListener.CLOSE);
    }

    private Optional<FullHttpResponse> refusal(FullHttpRequest request) {
        List<String> named = request.headers().getAll(HttpHeaderNames.HOST);
        String host = named.size() == 1 ? named.get(0).strip().toLowerCase(Locale.ROOT) : "";
        if (!knows(host)) {
            return answer(
                    MISDIRECTED,
                    "header host: expected one, with localhost, an address that the server listens at, or one of hosts in its"
                            + " settings");
        }
        for (String origin : request.headers().getAll(HttpHeaderNames.ORIGIN)) {
            String small = origin.toLowerCase(Locale.ROOT);
            if (!small.equals("http://" + host) && !small.equals("https://" + host)) {
                return answer(HttpResponseStatus.FORBIDDEN, "header origin: expected the origin of this server");
            }
        }
        if (!HttpMethod.GET.equals(request.method())
                || !request.headers().containsValue(HttpHeaderNames.UPGRADE, "websocket", true)) {
            return answer(HttpResponseStatus.UPGRADE_REQUIRED, "expected a WebSocket at /gremlin; there is no HTTP");
        }
        return Optional.empty();
    }

    private boolean knows(String authority) {
        Matcher found = AUTHORITY.matcher(authority);
        if (!found.matches()) {
            return false;
        }
        String host = found.group(1);
        return hosts.contains(host)
                || host.equals(listen)
                || address(host)
                        .map(one -> isEverywhere || one.isLoopbackAddress() || address(listen).filter(one::equals).isPresent())
                        .orElse(false);
    }

    private static Optional<FullHttpResponse> answer(HttpResponseStatus status, String why) {
        byte[] body = (why + "\n").getBytes(StandardCharsets.UTF_8);
        FullHttpResponse answer =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
        answer.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
        answer.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.length);
        answer.headers().set(HttpHeaderNames.CONNECTION, "close");
        return Optional.of(answer);
    }
}
