package dev.annals;

import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A value of the kind content: it names a binary in the store of contents.
 *
 * @param sha256 the SHA-256 of the bytes, 64 hexadecimal digits
 * @param size the number of bytes
 * @param mediaType such as {@code image/tiff}; {@code application/octet-stream} if the writer stated none
 * @param name the file name, if the writer stated one
 * @param digests further digests by algorithm: {@code md5}, {@code sha}, {@code sha-256}, {@code sha-512}
 */
public record Content(String sha256, long size, String mediaType, Optional<String> name, Map<String, String> digests) {
    /**
     * Copies the digests.
     *
     * @param sha256 the SHA-256 of the bytes, 64 hexadecimal digits
     * @param size the number of bytes
     * @param mediaType such as {@code image/tiff}; {@code application/octet-stream} if the writer stated none
     * @param name the file name, if the writer stated one
     * @param digests further digests by algorithm: {@code md5}, {@code sha}, {@code sha-256}, {@code sha-512}
     */
    public Content {
        Objects.requireNonNull(sha256, "sha256");
        Objects.requireNonNull(mediaType, "mediaType");
        Objects.requireNonNull(name, "name");
        digests = Map.copyOf(digests);
    }
}
