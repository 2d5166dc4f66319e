package dev.annals;

import com.google.gson.JsonObject;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Changes that become one record, or none. Closing it without {@link #commit} discards them.
 *
 * <p>In this process each change is checked when you make it, and reads see the own writes. Over a connection the
 * changes are sent at the commit, which then throws their exceptions; {@code operation} of
 * {@link AnnalsException#details} names the change (from 0), if the server can tell. Reads are refused there (kind
 * {@code invalid-argument}).
 *
 * <p>Changes throw {@link AnnalsException}s of the kinds that docs/semantics.md lists for each action, such as
 * {@code not-found}, {@code deleted}, {@code already-exists}, {@code invalid-property} and {@code missing-end}; after
 * the end of the transaction {@code closed}. A transaction is for one thread at a time.
 */
public final class Transaction implements AutoCloseable {
    private final Work work;
    private final JsonObject settings = new JsonObject();
    private boolean hasChanges;
    private boolean isClosed;

    Transaction(Work work) {
        this.work = work;
    }

    // Settings of the whole transaction.

    /**
     * States the author.
     *
     * @param author a name
     * @return this
     */
    public Transaction author(String author) {
        return setting("author", author);
    }

    /**
     * States the reason.
     *
     * @param message a text
     * @return this
     */
    public Transaction message(String message) {
        return setting("message", message);
    }

    /**
     * Says from when on all changes are true; the commit instant otherwise. Call it before the first change.
     *
     * @param instant an instant of the past
     * @return this
     * @throws AnnalsException kind {@code invalid-argument}: after the first change; kind {@code future-instant}, at
     *     the latest at the commit
     */
    public Transaction validFrom(Instant instant) {
        first("validFrom");
        return setting("validFrom", AsOf.valid(instant).valid().orElseThrow().toString());
    }

    /**
     * Says when the transaction was committed, to import history; the time of the commit otherwise. Call it before the
     * first change. Only an embedded repository takes it.
     *
     * @param instant an instant of the past, not before the last record's
     * @return this
     * @throws AnnalsException kind {@code invalid-argument}: after the first change, over a connection, or, at the
     *     commit, for an instant before the last record's; kind {@code future-instant}
     */
    public Transaction committedAt(Instant instant) {
        first("committedAt");
        return setting("committedAt", AsOf.valid(instant).valid().orElseThrow().toString());
    }

    /**
     * Makes a version also for a change that changes nothing. Call it before the first change.
     *
     * @return this
     * @throws AnnalsException kind {@code invalid-argument}: after the first change
     */
    public Transaction always() {
        first("always");
        open();
        settings.addProperty("always", true);
        work.settings(settings.deepCopy());
        return this;
    }

    private void first(String setting) {
        if (hasChanges) {
            throw AnnalsException.invalid(
                    setting + ": expected before the first change of the transaction, found after it");
        }
    }

    private Transaction setting(String name, String value) {
        open();
        settings.addProperty(name, value);
        work.settings(settings.deepCopy());
        return this;
    }

    // Changes.

    /**
     * Creates an entity.
     *
     * @param entity the entity
     * @return its id
     */
    public String create(NewEntity entity) {
        change();
        return work.create(entity);
    }

    /**
     * Creates a relationship.
     *
     * @param relationship the relationship
     * @return its id
     */
    public String create(NewRelationship relationship) {
        change();
        return work.create(relationship);
    }

    /**
     * Creates an entity, or replaces its properties if it exists. It must have an id.
     *
     * @param entity the entity
     */
    public void upsert(NewEntity entity) {
        operate(entity.operation("upsert", entity.id()));
    }

    /**
     * Creates a relationship, or replaces its properties if it exists. It must have an id.
     *
     * @param relationship the relationship
     */
    public void upsert(NewRelationship relationship) {
        operate(relationship.operation("upsert", relationship.id()));
    }

    /**
     * Changes some properties.
     *
     * @param patch the steps
     */
    public void update(Patch patch) {
        change();
        work.update(patch);
    }

    /**
     * Replaces all properties.
     *
     * @param instance the instance
     * @param properties values by name, as in {@link NewEntity#set}
     */
    public void replace(InstanceId instance, Map<String, ?> properties) {
        JsonObject operation = Operations.on("replace", instance);
        operation.add("properties", Values.json(Values.canonical(properties)));
        operate(operation);
    }

    /**
     * Deletes an instance; with an entity also its relationships and everything that it contains. Its history stays.
     *
     * @param instance the instance
     */
    public void delete(InstanceId instance) {
        change();
        work.remove(instance, false);
    }

    /**
     * Restores a deleted instance; with an entity also what was deleted with it.
     *
     * @param instance the instance
     */
    public void restore(InstanceId instance) {
        operate(Operations.on("restore", instance));
    }

    /**
     * Restores a deleted entity without the relationships that were deleted with it.
     *
     * @param entityId the id of the entity
     */
    public void restoreAlone(String entityId) {
        JsonObject operation = Operations.on("restore", InstanceId.entity(entityId));
        operation.addProperty("withRelationships", false);
        operate(operation);
    }

    /**
     * Removes an instance with its history, for ever.
     *
     * @param instance the instance
     */
    public void purge(InstanceId instance) {
        change();
        work.remove(instance, true);
    }

    /**
     * Takes back the last change of an instance, as a new version.
     *
     * @param instance the instance
     */
    public void undo(InstanceId instance) {
        operate(Operations.on("undo", instance));
    }

    /**
     * Takes back the last change of the properties of an instance, as a new version. Classifications stay.
     *
     * @param instance the instance
     */
    public void undoContent(InstanceId instance) {
        operate(Operations.with(Operations.on("undo", instance), "of", "content"));
    }

    /**
     * Attaches a classification.
     *
     * @param entityId the id of the entity
     * @param name the classification
     * @param properties values by name, as in {@link NewEntity#set}
     */
    public void classify(String entityId, String name, Map<String, ?> properties) {
        JsonObject operation = Operations.with(Operations.on("classify", entityId), "classification", name);
        operation.add("properties", Values.json(Values.canonical(properties)));
        operate(operation);
    }

    /**
     * Changes some properties of a classification.
     *
     * @param name the classification
     * @param patch the steps, for the entity that has it
     */
    public void reclassify(String name, Patch patch) {
        JsonObject operation =
                Operations.with(Operations.on("reclassify", patch.instance().id()), "classification", name);
        operation.add("patch", patch.json());
        operate(operation);
    }

    /**
     * Removes a classification.
     *
     * @param entityId the id of the entity
     * @param name the classification
     */
    public void declassify(String entityId, String name) {
        operate(Operations.with(Operations.on("declassify", entityId), "classification", name));
    }

    /**
     * Gives another status.
     *
     * @param instance the instance
     * @param status the name of a status
     */
    public void setStatus(InstanceId instance, String status) {
        operate(Operations.with(Operations.on("set-status", instance), "status", status));
    }

    /**
     * Gives another type.
     *
     * @param instance the instance
     * @param type the name of the type
     */
    public void retype(InstanceId instance, String type) {
        operate(Operations.with(Operations.on("retype", instance), "type", type));
    }

    /**
     * Gives another id. The history continues under it.
     *
     * @param instance the instance
     * @param newId the id
     */
    public void reidentify(InstanceId instance, String newId) {
        operate(Operations.with(Operations.on("reidentify", instance), "newId", newId));
    }

    /**
     * Lets a relationship start at another entity.
     *
     * @param relationshipId the id of the relationship
     * @param from the id of the entity
     */
    public void relinkFrom(String relationshipId, String from) {
        operate(Operations.with(Operations.on("relink", relationshipId), "from", from));
    }

    /**
     * Lets a relationship lead to another entity.
     *
     * @param relationshipId the id of the relationship
     * @param to the id of the entity
     */
    public void relinkTo(String relationshipId, String to) {
        operate(Operations.with(Operations.on("relink", relationshipId), "to", to));
    }

    /**
     * Lets a relationship start at another entity and lead to another one, in one version.
     *
     * @param relationshipId the id of the relationship
     * @param from the id of the entity at which it starts
     * @param to the id of the entity to which it leads
     */
    public void relink(String relationshipId, String from, String to) {
        operate(Operations.with(Operations.with(Operations.on("relink", relationshipId), "from", from), "to", to));
    }

    /**
     * Declares a type, or extends the declared one.
     *
     * @param type the declaration
     */
    public void define(TypeDefinition type) {
        JsonObject operation = Operations.of("define-type");
        operation.add("type", type.json());
        operate(operation);
    }

    /**
     * Adds to a declared type.
     *
     * @param additions kind, name, and what to add
     */
    public void patchType(TypeDefinition additions) {
        JsonObject operation = Operations.of("patch-type");
        operation.add("type", additions.json());
        operate(operation);
    }

    /**
     * Refuses the commit ({@code precondition-failed}) unless this is the number of the last written version of an
     * instance before this transaction.
     *
     * @param instance the instance
     * @param version {@link Instance#latestVersion}; 0 if no such instance may exist, not even a deleted one
     */
    public void expect(InstanceId instance, int version) {
        JsonObject operation = Operations.on("expect", instance);
        operation.addProperty("ifVersion", version);
        operate(operation);
    }

    /**
     * Refuses the commit ({@code precondition-failed}) unless this is the instance, and its last written version, before
     * this transaction. Unlike {@link #expect(InstanceId, int)} it tells an instance from a later one with the same id.
     *
     * @param instance the instance
     * @param revision {@link Instance#revision}
     */
    public void expect(InstanceId instance, String revision) {
        operate(Operations.with(Operations.on("expect", instance), "ifVersion", revision));
    }

    /**
     * Adds any operation of docs/json.md, also those that have no method here.
     *
     * @param json the operation, an object with {@code action}; its {@code ifVersion} is a version or a revision
     * @throws AnnalsException kind {@code invalid-argument}: the text is no JSON object
     */
    public void operation(String json) {
        operate(Json.object(Json.parse(json)));
    }

    /**
     * Changes of the tree that starts at the entity {@code root}.
     *
     * @return the changes that can be made
     */
    public TreeChanges tree() {
        return new TreeChanges(this, Optional.empty());
    }

    /**
     * Changes of the tree that starts at another entity.
     *
     * @param root the id of the entity
     * @return the changes that can be made
     */
    public TreeChanges tree(String root) {
        return new TreeChanges(this, Optional.of(root));
    }

    void operate(JsonObject operation) {
        change();
        work.operation(operation);
    }

    // Reads with the own writes.

    /**
     * Reads an entity.
     *
     * @param id its id
     * @return the entity, if it exists and is not deleted
     */
    public Optional<Entity> entity(String id) {
        return view().get(InstanceId.entity(id)).map(Entity.class::cast);
    }

    /**
     * Reads a relationship.
     *
     * @param id its id
     * @return the relationship, if it exists and is not deleted
     */
    public Optional<Relationship> relationship(String id) {
        return view().get(InstanceId.relationship(id)).map(Relationship.class::cast);
    }

    /**
     * Finds instances.
     *
     * @param find the search
     * @param <T> the class of instances
     * @return the hits, read page by page while you ask for them
     */
    public <T extends Instance> Stream<T> find(Find<T> find) {
        View view = view();
        return Snapshot.stream(find, view);
    }

    /**
     * Counts the hits of a search.
     *
     * @param find the search
     * @return the number of hits on all pages
     */
    public long count(Find<?> find) {
        return view().count(find);
    }

    /**
     * The neighbours of many entities at once.
     *
     * @param ids the ids of the entities
     * @param links direction, exact types, and the largest number for one entity
     * @return the neighbours by the id of the entity; an unknown entity has none
     */
    public Map<String, List<Neighbor>> neighbors(Collection<String> ids, Links links) {
        return new LinkedHashMap<>(view().neighbors(List.copyOf(ids), links));
    }

    /**
     * Reads many entities in one call.
     *
     * @param ids their ids
     * @return the entities that exist, by id, in the order of the ids
     */
    public Map<String, Entity> entities(Collection<String> ids) {
        Map<String, Entity> found = new LinkedHashMap<>();
        view().get(Kind.ENTITY, List.copyOf(ids)).forEach(one -> one.ifPresent(there -> found.put(there.id(), (Entity) there)));
        return found;
    }

    /**
     * The entities at the other ends of the relationships of many entities. Cheaper than {@link #neighbors} if you do not
     * need the relationships.
     *
     * @param ids the ids of the entities
     * @param links direction, exact types, and the largest number for one entity
     * @return the entities by the id of the entity that is asked, one for each relationship; an unknown entity has none
     */
    public Map<String, List<Entity>> neighborEntities(Collection<String> ids, Links links) {
        return view().neighborEntities(List.copyOf(ids), links);
    }

    /**
     * The ids of the entities at the other ends of the relationships of many entities. The cheapest form of
     * {@link #neighbors}.
     *
     * @param ids the ids of the entities
     * @param links direction, exact types, and the largest number for one entity
     * @return the ids by the id of the entity that is asked, one for each relationship; an unknown entity has none
     */
    public Map<String, List<String>> neighborIds(Collection<String> ids, Links links) {
        return view().neighborIds(List.copyOf(ids), links);
    }

    /**
     * The relationships of many entities. Cheaper than {@link #neighbors} if you do not need the entities at the other
     * ends.
     *
     * @param ids the ids of the entities
     * @param links direction, exact types, and the largest number for one entity
     * @return the relationships by the id of the entity; an unknown entity has none
     */
    public Map<String, List<Relationship>> neighborRelationships(Collection<String> ids, Links links) {
        return view().neighborRelationships(List.copyOf(ids), links);
    }

    private View view() {
        open();
        return work.view();
    }

    private void change() {
        open();
        hasChanges = true;
    }

    private void open() {
        if (isClosed) {
            throw AnnalsException.closed("transaction");
        }
    }

    // The end.

    /**
     * Writes all changes as one record. The transaction is closed, also if it fails.
     *
     * @return position and instant of the record
     * @throws AnnalsException kind {@code conflict}: another transaction was first; kind {@code precondition-failed}:
     *     an expected version does not hold; kind {@code unavailable} or {@code time-out}: nobody knows whether it took
     *     effect; and the kinds of the changes
     */
    public Receipt commit() {
        open();
        isClosed = true;
        return work.commit();
    }

    /** Discards the changes, unless they are committed. */
    @Override
    public void close() {
        isClosed = true;
        work.close();
    }
}
