package dev.annals;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * An entity or a relationship, as one version shows it. Immutable; it needs no open snapshot.
 *
 * <p>Two instances are equal if they are the same version: kind, id, position and number of the version are equal.
 */
public abstract sealed class Instance permits Entity, Relationship {
    private final String id;
    private final String type;
    private final Map<String, Object> properties;
    private final Header header;

    Instance(String id, String type, Map<String, Object> properties, Header header) {
        this.id = id;
        this.type = type;
        this.properties = properties;
        this.header = header;
    }

    static Instance of(Kind kind, JsonObject json) {
        return kind == Kind.ENTITY ? Entity.of(json) : Relationship.of(json);
    }

    static Map<String, Object> properties(JsonObject json) {
        return json.get("properties") instanceof JsonObject members ? Values.map(members) : Map.of();
    }

    final Header.Fixed header() {
        return header.fixed();
    }

    /**
     * The id.
     *
     * @return the id
     */
    public final String id() {
        return id;
    }

    /**
     * The id with its kind.
     *
     * @return the id with its kind
     */
    public abstract InstanceId instanceId();

    /**
     * The name of the type.
     *
     * @return the name
     */
    public final String type() {
        return type;
    }

    /**
     * All properties.
     *
     * @return the values by name, unmodifiable; {@link NewEntity#set} lists the classes of values
     */
    public final Map<String, Object> properties() {
        return properties;
    }

    /**
     * A property.
     *
     * @param name its name
     * @return its value, if there is one
     */
    public final Optional<Object> property(String name) {
        return Optional.ofNullable(properties.get(name));
    }

    /**
     * A property of a known class.
     *
     * @param name its name
     * @param kind the class of its value, such as {@code Long.class}
     * @param <T> the class of its value
     * @return its value, if there is one
     * @throws AnnalsException kind {@code invalid-argument}: the value has another class
     */
    public final <T> Optional<T> property(String name, Class<T> kind) {
        Object value = properties.get(name);
        if (value != null && !kind.isInstance(value)) {
            throw AnnalsException.invalid("property " + name + " of " + instanceId() + ": expected " + kind.getName()
                    + ", found " + value.getClass().getName());
        }
        return Optional.ofNullable(kind.cast(value));
    }

    /**
     * The number of this version.
     *
     * @return the number, from 1
     */
    public final int version() {
        return header().version();
    }

    /**
     * The number of the version that was written last. A correction of the past is written later than the version in
     * force.
     *
     * @return the number, from 1
     */
    public final int latestVersion() {
        return header().latestVersion();
    }

    /**
     * The birth of the instance, the version that was written last, and a part of the id of the log, such as
     * {@code 17.3@3f2a9c01}: what an entity tag of the server says. The birth is the position of the first record. After
     * a purge another instance may get the id, and its versions count from 1 again; its revision is another one. So is
     * each revision in a restored backup, which has a log of its own. {@link Patch#ifRevision} and
     * {@link Transaction#expect(InstanceId, String)} take it.
     *
     * @return the revision. Over a connection only reads of one instance by its id say it, and searches leave it out;
     *     in process it is always there
     */
    public final Optional<String> revision() {
        return header().revision();
    }

    /**
     * The number of this version without those that changed only classifications.
     *
     * @return the number, from 1
     */
    public final int contentVersion() {
        return header().contentVersion();
    }

    /**
     * The position of the record that wrote this version.
     *
     * @return the position, from 1
     */
    public final long position() {
        return header().position();
    }

    /**
     * The first change.
     *
     * @return its instant and author
     */
    public final Stamp created() {
        return header().created();
    }

    /**
     * The change that wrote this version.
     *
     * @return its instant and author
     */
    public final Stamp updated() {
        return header().updated();
    }

    /**
     * From when on this version is true.
     *
     * @return an instant in microseconds
     */
    public final Instant validFrom() {
        return header().validFrom();
    }

    /**
     * The status, {@code active} unless the type or a writer says otherwise.
     *
     * @return the name of the status
     */
    public final String status() {
        return header().status();
    }

    /**
     * Says whether the instance is deleted. Only searches that ask for deleted instances, and versions of the past,
     * show such ones.
     *
     * @return true if it is deleted
     */
    public final boolean isDeleted() {
        return header().isDeleted();
    }

    /**
     * How the instance came here, and the headers that few instances have.
     *
     * @return its provenance
     */
    public final Provenance provenance() {
        return header().provenance();
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof Instance instance
                && getClass() == instance.getClass()
                && id.equals(instance.id)
                && version() == instance.version()
                && position() == instance.position();
    }

    @Override
    public final int hashCode() {
        return Objects.hash(id, version(), position());
    }

    @Override
    public String toString() {
        return instanceId() + " (" + type + ", version " + version() + ") " + properties;
    }
}
