package dev.annals.gremlin.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The file of {@code annals token}. Each line is a name, SHA-256 of a token or {@code -}, roles with commas between
 * them, and an instant or {@code never}. It is read again when it has changed.
 */
final class TokenFile {
    private static final long BYTES_MAX = 16 << 20;
    private static final Set<PosixFilePermission> FOR_OTHERS = Set.of(
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE,
            PosixFilePermission.OTHERS_EXECUTE);

    /** A token: the name of its client, its hash, and its roles, until it expires. */
    record Token(String name, byte[] hash, Set<String> roles, Instant expires) {}

    /** What tells one state of the file from another. */
    private record State(Object key, Object modified, long size) {}

    private final Path path;
    private State state;
    private List<Token> tokens = List.of();

    /** Errors: a file that does not read. */
    TokenFile(Path path) throws IOException {
        this.path = path;
        read();
    }

    /** The token, unless it is unknown or has expired. Errors: the file does not read any more. */
    synchronized Optional<Token> find(String token) throws IOException {
        return withHash(hash(token));
    }

    /** The token with a hash, unless it is gone or has expired. Errors: the file does not read any more. */
    synchronized Optional<Token> withHash(byte[] hash) throws IOException {
        read();
        Instant now = Instant.now();
        return tokens.stream()
                .filter(one -> MessageDigest.isEqual(one.hash, hash) && now.isBefore(one.expires))
                .findFirst();
    }

    private void read() throws IOException {
        PosixFileAttributes known = Files.readAttributes(path, PosixFileAttributes.class);
        State found = new State(known.fileKey(), known.lastModifiedTime(), known.size());
        if (found.equals(state)) {
            return;
        }
        if (known.permissions().stream().anyMatch(FOR_OTHERS::contains)) {
            throw new IOException("token file " + path + ": expected rights for its owner only; run chmod 600 " + path);
        }
        if (known.size() > BYTES_MAX) {
            throw new IOException("token file " + path + ": expected at most " + BYTES_MAX + " bytes, found more");
        }
        List<Token> all = new ArrayList<>();
        List<String> lines = Files.readAllLines(path, StandardCharsets.UTF_8);
        for (int index = 0; index < lines.size(); index++) {
            try {
                token(lines.get(index).strip()).ifPresent(all::add);
            } catch (IllegalArgumentException | DateTimeException error) {
                // Without the text of the line, which may hold a secret.
                throw new IOException("token file " + path + ": line " + (index + 1)
                        + ": expected name, SHA-256 or -, roles, and an instant or never");
            }
        }
        tokens = List.copyOf(all);
        state = found;
    }

    private static Optional<Token> token(String line) {
        if (line.isEmpty() || line.startsWith("#")) {
            return Optional.empty();
        }
        String[] fields = line.split("\\s+");
        if (fields.length != 4 || !fields[1].equals("-") && fields[1].length() != 64) {
            throw new IllegalArgumentException("fields");
        }
        Instant expires = fields[3].equals("never") ? Instant.MAX : Instant.parse(fields[3]);
        return fields[1].equals("-")
                ? Optional.empty()
                : Optional.of(new Token(
                        fields[0], HexFormat.of().parseHex(fields[1]), Set.of(fields[2].split(",")), expires));
    }

    private static byte[] hash(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
}
