package dev.annals.gremlin.server;

import dev.annals.gremlin.server.TokenFile.Token;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.tinkerpop.gremlin.server.auth.AuthenticatedUser;
import org.apache.tinkerpop.gremlin.server.auth.AuthenticationException;
import org.apache.tinkerpop.gremlin.server.auth.Authenticator;

/**
 * Lets in clients with a token of {@code annals token}, if the settings name a file of tokens. A driver sends it as the
 * password (SASL PLAIN), with the name of the token as the user name. A token needs the role {@code write} or
 * {@code admin}, because a request may do everything.
 *
 * <p>Settings: {@code tokens}, the file; {@code hosts}, further names by which clients call the server.
 */
public final class TokenAuthenticator implements Authenticator {
    private static final Set<String> ROLES = Set.of("write", "admin");

    private TokenFile tokens;
    private List<String> hosts = List.of();

    /** An authenticator, as Gremlin Server makes it. */
    public TokenAuthenticator() {}

    private static final class User extends AuthenticatedUser {
        private final byte[] hash;

        User(Token token) {
            super(token.name());
            hash = token.hash();
        }
    }

    /** Errors: an unknown setting; a file that does not read. */
    @Override
    public void setup(Map<String, Object> settings) {
        if (settings == null) {
            return;
        }
        for (Map.Entry<String, Object> setting : settings.entrySet()) {
            Object value = setting.getValue();
            if (setting.getKey().equals("tokens") && value instanceof String path) {
                try {
                    tokens = new TokenFile(Path.of(path));
                } catch (IOException error) {
                    throw new IllegalArgumentException("authentication: " + error.getMessage(), error);
                }
            } else if (setting.getKey().equals("hosts") && value instanceof List<?> names) {
                hosts = names.stream().map(Object::toString).toList();
            } else {
                throw new IllegalArgumentException("authentication.config: expected tokens, the path of a file, or hosts, a"
                        + " list of names; found " + setting.getKey());
            }
        }
    }

    List<String> hosts() {
        return hosts;
    }

    @Override
    public boolean requireAuthentication() {
        return tokens != null;
    }

    /** True while the token of a client is in the file, and has not expired. */
    boolean stands(AuthenticatedUser user) {
        try {
            return user instanceof User known
                    && tokens.withHash(known.hash).filter(TokenAuthenticator::may).isPresent();
        } catch (IOException error) {
            return false;
        }
    }

    private static boolean may(Token token) {
        return token.roles().stream().anyMatch(ROLES::contains);
    }

    @Override
    public AuthenticatedUser authenticate(Map<String, String> credentials) throws AuthenticationException {
        String name = credentials.getOrDefault("username", "");
        Optional<Token> found;
        try {
            found = tokens.find(credentials.getOrDefault("password", ""));
        } catch (IOException error) {
            throw new AuthenticationException("the tokens cannot be read", error);
        }
        Token token = found.filter(one -> one.name().equals(name))
                .orElseThrow(() -> new AuthenticationException(
                        "expected the name of a token as user name, and the token as password; it is unknown or has expired"));
        if (!may(token)) {
            throw new AuthenticationException("the token of " + name + ": expected the role write or admin, because a"
                    + " request may do everything");
        }
        return new User(token);
    }

    @Override
    public SaslNegotiator newSaslNegotiator(InetAddress address) {
        return new Plain();
    }

    /** Source: RFC 4616: the name to act as, NUL, the user name, NUL, the password. */
    private final class Plain implements SaslNegotiator {
        private AuthenticatedUser user;

        @Override
        public byte[] evaluateResponse(byte[] response) throws AuthenticationException {
            String[] parts = new String(response, StandardCharsets.UTF_8).split("\0", -1);
            if (parts.length != 3) {
                throw new AuthenticationException("expected a user name and a password (SASL PLAIN)");
            }
            user = authenticate(Map.of("username", parts[1], "password", parts[2]));
            return null;
        }

        @Override
        public boolean isComplete() {
            return user != null;
        }

        @Override
        public AuthenticatedUser getAuthenticatedUser() throws AuthenticationException {
            if (user == null) {
                throw new AuthenticationException("expected a user name and a password (SASL PLAIN)");
            }
            return user;
        }
    }
}
