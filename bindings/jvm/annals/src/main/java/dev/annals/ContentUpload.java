package dev.annals;

import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Where a content goes: {@code ContentUpload.to("page-1").type("page").mediaType("image/tiff")}. Not for several
 * threads.
 */
public final class ContentUpload {
    private final String entityId;
    private final Map<String, String> digests = new LinkedHashMap<>();
    private Query query = Query.NONE;
    private String mediaType = "application/octet-stream";
    private String name = "";
    private String author = "";
    private String message = "";

    private ContentUpload(String entityId) {
        this.entityId = entityId;
    }

    /**
     * The property {@code content} of an entity.
     *
     * @param entityId the id of the entity
     * @return the upload
     */
    public static ContentUpload to(String entityId) {
        return new ContentUpload(InstanceId.check(entityId));
    }

    /**
     * Another property.
     *
     * @param name the property
     * @return this
     */
    public ContentUpload property(String name) {
        query = query.set("property", name);
        return this;
    }

    /**
     * Creates the entity with this type if it is missing.
     *
     * @param type the name of the type
     * @return this
     */
    public ContentUpload type(String type) {
        query = query.set("type", type);
        return this;
    }

    /**
     * States the media type, {@code application/octet-stream} otherwise.
     *
     * @param mediaType such as {@code image/tiff}
     * @return this
     */
    public ContentUpload mediaType(String mediaType) {
        this.mediaType = mediaType;
        return this;
    }

    /**
     * States the file name.
     *
     * @param name the name, without folders
     * @return this
     */
    public ContentUpload name(String name) {
        this.name = name;
        return this;
    }

    /**
     * States a digest. Other bytes are then refused (kind {@code digest-mismatch}), and nothing is stored.
     *
     * @param algorithm {@code sha-256}, {@code sha-512}, {@code sha} or {@code md5}
     * @param hexadecimal the digest in hexadecimal digits
     * @return this
     * @throws AnnalsException kind {@code invalid-argument}: these are no hexadecimal digits
     */
    public ContentUpload digest(String algorithm, String hexadecimal) {
        try {
            digests.put(
                    algorithm, Base64.getEncoder().encodeToString(HexFormat.of().parseHex(hexadecimal)));
        } catch (IllegalArgumentException error) {
            throw AnnalsException.of("invalid-argument", "digest " + algorithm + ": " + error.getMessage(), error);
        }
        return this;
    }

    /**
     * Says from when on the version is true; the commit instant otherwise.
     *
     * @param instant an instant of the past
     * @return this
     */
    public ContentUpload validFrom(Instant instant) {
        query = query.set("validFrom", instant);
        return this;
    }

    /**
     * States the author.
     *
     * @param author a name
     * @return this
     */
    public ContentUpload author(String author) {
        this.author = author;
        return this;
    }

    /**
     * States the reason.
     *
     * @param message a text
     * @return this
     */
    public ContentUpload message(String message) {
        this.message = message;
        return this;
    }

    String target() {
        return query.on("/v1/content/" + Utf8.percent(entityId));
    }

    Map<String, String> headers() {
        Map<String, String> headers = Client.stamp(author, message);
        headers.put("content-type", mediaType);
        if (!name.isEmpty()) {
            headers.put("content-disposition", "attachment; filename*=UTF-8''" + Utf8.percent(name));
        }
        if (!digests.isEmpty()) {
            StringBuilder all = new StringBuilder();
            digests.forEach((algorithm, base64) -> all.append(all.isEmpty() ? "" : ", ")
                    .append(algorithm)
                    .append("=:")
                    .append(base64)
                    .append(':'));
            headers.put("repr-digest", all.toString());
        }
        return headers;
    }
}
