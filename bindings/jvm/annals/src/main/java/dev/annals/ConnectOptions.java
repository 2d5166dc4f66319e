package dev.annals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * How to talk to a server: {@code ConnectOptions.defaults().token("…").authorities(Path.of("ca.pem"))}. Every method
 * returns new options.
 *
 * @param connectTime the longest wait for a connection; 10 s
 * @param requestTime the longest wait for an answer; 60 s. The server gives up after 30 s unless it is told otherwise
 * @param idleTime the longest wait for the next part of a streamed answer; 90 s. The feed sends something more often
 * @param uploadTime the longest time of a request with a streamed body; 6 hours
 * @param headers headers of every request by name, such as the token, or those of a proxy in front of the server
 * @param authorities a file of certificates in PEM: the server's certificate must come from one of them. Without it the
 *     authorities of the Java virtual machine count, which {@code -Djavax.net.ssl.trustStore} names
 * @param certificate the certificate by which this client says its name; for servers with {@code --tls-client-ca}
 */
public record ConnectOptions(
        Duration connectTime,
        Duration requestTime,
        Duration idleTime,
        Duration uploadTime,
        Map<String, String> headers,
        Optional<Path> authorities,
        Optional<Certificate> certificate) {
    private static final Pattern TOKEN = Pattern.compile("[!-~]+");

    /**
     * A certificate and its key.
     *
     * @param chain a file in PEM: the certificate, and then those that lead to its authority
     * @param key a file in PEM: the private key in PKCS#8, without a password
     */
    public record Certificate(Path chain, Path key) {}

    /**
     * Copies the headers and checks the times.
     *
     * @param connectTime the longest wait for a connection; 10 s
     * @param requestTime the longest wait for an answer; 60 s. The server gives up after 30 s unless it is told
     *     otherwise
     * @param idleTime the longest wait for the next part of a streamed answer; 90 s. The feed sends something more
     *     often
     * @param uploadTime the longest time of a request with a streamed body; 6 hours
     * @param headers headers of every request by name, for a proxy in front of the server
     * @param authorities a file of certificates in PEM, from which the server's must come
     * @param certificate the certificate of this client
     * @throws AnnalsException kind {@code invalid-argument}: a time is not positive
     */
    public ConnectOptions {
        for (Duration time : new Duration[] {connectTime, requestTime, idleTime, uploadTime}) {
            if (time.isNegative() || time.isZero()) {
                throw AnnalsException.invalid("expected a time longer than 0, found " + time);
            }
        }
        headers = Map.copyOf(headers);
    }

    /**
     * The times above, and no headers.
     *
     * @return the options
     */
    public static ConnectOptions defaults() {
        return new ConnectOptions(
                Duration.ofSeconds(10), Duration.ofSeconds(60), Duration.ofSeconds(90), Duration.ofHours(6), Map.of(),
                Optional.empty(), Optional.empty());
    }

    /**
     * Says the name of this client by a token, as {@code annals token} or an OIDC provider gives it.
     *
     * @param token the token, without {@code Bearer}
     * @return the new options
     * @throws AnnalsException kind {@code invalid-argument}: the token is empty, or has spaces or characters other than
     *     ASCII; the message does not repeat it
     */
    public ConnectOptions token(String token) {
        if (!TOKEN.matcher(token).matches()) {
            throw AnnalsException.invalid("token: expected printable ASCII without spaces, found "
                    + (token.isBlank() ? "nothing" : "something else; is there a line end behind it?"));
        }
        return header("Authorization", "Bearer " + token);
    }

    /**
     * Sends a header with every request.
     *
     * @param name its name
     * @param value its value
     * @return the new options
     */
    public ConnectOptions header(String name, String value) {
        Map<String, String> more = new TreeMap<>(headers);
        more.put(name, value);
        return new ConnectOptions(connectTime, requestTime, idleTime, uploadTime, more, authorities, certificate);
    }

    /**
     * Waits so long for an answer.
     *
     * @param time the longest wait
     * @return the new options
     */
    public ConnectOptions requestTime(Duration time) {
        return new ConnectOptions(connectTime, time, idleTime, uploadTime, headers, authorities, certificate);
    }

    /**
     * Waits so long for a connection.
     *
     * @param time the longest wait
     * @return the new options
     */
    public ConnectOptions connectTime(Duration time) {
        return new ConnectOptions(time, requestTime, idleTime, uploadTime, headers, authorities, certificate);
    }

    /**
     * Trusts servers whose certificates come from these authorities, and no others.
     *
     * @param pem a file of certificates in PEM
     * @return the new options
     */
    public ConnectOptions authorities(Path pem) {
        return new ConnectOptions(
                connectTime, requestTime, idleTime, uploadTime, headers, Optional.of(pem), certificate);
    }

    /**
     * Says the name of this client by a certificate.
     *
     * @param chain a file in PEM: the certificate, and then those that lead to its authority
     * @param key a file in PEM: the private key in PKCS#8, without a password
     * @return the new options
     */
    public ConnectOptions certificate(Path chain, Path key) {
        return new ConnectOptions(
                connectTime,
                requestTime,
                idleTime,
                uploadTime,
                headers,
                authorities,
                Optional.of(new Certificate(chain, key)));
    }
}
