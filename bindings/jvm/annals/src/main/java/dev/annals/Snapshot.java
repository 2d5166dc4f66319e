package dev.annals;

import com.google.gson.JsonObject;
import java.io.InputStream;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The repository at one position: later commits do not show. For any number of threads at once.
 *
 * <p>Streams read pages of 256 items while you ask for them. Unknown names of types and properties, and unknown
 * entities at which a query starts, are {@link AnnalsException}s of the kind {@code not-found}; queries beyond a bound
 * are {@code too-large}; a use after {@link #close} is {@code closed}.
 */
public final class Snapshot extends GraphReads implements AutoCloseable {
    private final Client client;
    private final View view;
    private final AsOf shown;
    private final Query candidate;
    private final Query time;
    private final Query transactionTime;
    private volatile boolean isClosed;

    /** A snapshot that shows this time; of a candidate if the query names one. */
    Snapshot(Client client, View view, AsOf shown, Query candidate) {
        this.client = client;
        this.view = view;
        this.shown = shown;
        this.candidate = candidate;
        this.time = shown.query("").and(candidate);
        this.transactionTime = new AsOf(shown.position(), Optional.empty(), Optional.empty())
                .query("")
                .and(candidate);
    }

    /**
     * The position that it shows.
     *
     * @return the position of the last record that counts; 0 in an empty repository; absent for a candidate, whose view
     *     moves on with the repository
     */
    public OptionalLong position() {
        return shown.position();
    }

    // Instances.

    /**
     * Reads an entity.
     *
     * @param id its id
     * @return the entity, if it exists and is not deleted
     * @throws AnnalsException kind {@code proxy-only}: the repository stores only a proxy
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
     * Reads many entities at once.
     *
     * @param ids their ids
     * @return the entities that exist, by id, in the order of the ids
     */
    public Map<String, Entity> entities(Collection<String> ids) {
        return many(Kind.ENTITY, ids, Entity.class::cast);
    }

    /**
     * Reads many relationships at once.
     *
     * @param ids their ids
     * @return the relationships that exist, by id, in the order of the ids
     */
    public Map<String, Relationship> relationships(Collection<String> ids) {
        return many(Kind.RELATIONSHIP, ids, Relationship.class::cast);
    }

    /**
     * An instance, also a deleted one, and a proxy of an entity of another collection.
     *
     * @param id its id
     * @return the instance; empty if the repository does not know it
     */
    public Optional<Instance> known(InstanceId id) {
        return view().known(id.kind(), List.of(id.id())).get(0);
    }

    /**
     * The same of many.
     *
     * @param kind their kind
     * @param ids their ids
     * @return the instances by id, in the order of the ids; without those that the repository does not know
     */
    public Map<String, Instance> known(Kind kind, Collection<String> ids) {
        ids.forEach(InstanceId::check);
        return present(view().known(kind, List.copyOf(ids)), Instance.class::cast);
    }

    private <T extends Instance> Map<String, T> many(Kind kind, Collection<String> ids, Function<Instance, T> cast) {
        ids.forEach(InstanceId::check);
        return present(view().get(kind, List.copyOf(ids)), cast);
    }

    private static <T extends Instance> Map<String, T> present(
            List<Optional<Instance>> all, Function<Instance, T> cast) {
        Map<String, T> found = new LinkedHashMap<>();
        all.forEach(one -> one.map(cast).ifPresent(item -> found.put(item.id(), item)));
        return found;
    }

    // Searches.

    /**
     * Finds instances.
     *
     * @param find the search
     * @param <T> the class of instances
     * @return the hits, read page by page while you ask for them
     * @throws AnnalsException kind {@code invalid-expression}, while you read: the search does not read
     */
    public <T extends Instance> Stream<T> find(Find<T> find) {
        return stream(find, view());
    }

    static <T extends Instance> Stream<T> stream(Find<T> find, View view) {
        return Pages.stream(find.limit(), find.after(), new FindPages<>(find, view));
    }

    /** The offset counts for the first page only: the others begin behind a cursor. */
    private record FindPages<T extends Instance>(Find<T> find, View view) implements Pages.Read<T> {
        @Override
        public Page<T> page(int limit, Optional<String> after) {
            Find<T> page = find.limit(limit);
            boolean isFirst = after.equals(find.after());
            return view.find(isFirst ? page : page.offset(0).after(after.orElseThrow()));
        }
    }

    /**
     * Finds a page.
     *
     * @param find the search; without a limit, 100 hits
     * @param <T> the class of instances
     * @return the page
     * @throws AnnalsException kind {@code invalid-expression}; kind {@code invalid-page}: the limit is out of its
     *     range, or the cursor belongs to another search
     */
    public <T extends Instance> Page<T> findPage(Find<T> find) {
        return view().find(find);
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
     * Explains how the engine finds a page.
     *
     * @param find the search
     * @return the plans and their cost
     */
    public Explanation explain(Find<?> find) {
        open();
        if (shown.position().isEmpty()) {
            throw AnnalsException.invalid("explain: expected a snapshot of the repository, found that of a candidate");
        }
        JsonObject request = find.request();
        shown.addTo(request);
        return Explanation.of(client.send("POST", candidate.on("/v1/explain"), request));
    }

    /**
     * Groups the hits of a search by their values. A hit with a set counts in the group of each member.
     *
     * @param find the search, without an order and a page; its limit is that of the groups
     * @param by properties, or headers such as {@code @type}; without any, all hits are one group
     * @param aggregates what to compute of each group: {@code sum(FIELD)}, {@code min(FIELD)}, {@code max(FIELD)}
     * @return the largest groups
     * @throws AnnalsException kind {@code too-large}: there are more than 10,000 groups; kind
     *     {@code invalid-expression}: values that cannot be added or compared
     */
    public FoundGroups groups(Find<?> find, List<String> by, List<String> aggregates) {
        JsonObject request = find.request();
        shown.addTo(request);
        request.add("groupBy", Json.array(by));
        request.add("aggregate", Json.array(aggregates));
        return FoundGroups.of(client.send("POST", candidate.on("/v1/groups"), request));
    }

    /**
     * Counts everything.
     *
     * @return the numbers
     */
    public Counts counts() {
        return new Counts(count(Find.entities()), count(Find.relationships()), types().size());
    }

    // The past.

    /**
     * The versions of an instance, newest first, also of a deleted one.
     *
     * @param instance the instance
     * @return the versions
     */
    public Stream<Version> history(InstanceId instance) {
        return history(instance, History.all());
    }

    /**
     * Some versions of an instance.
     *
     * @param instance the instance
     * @param history selects and orders them
     * @return the versions
     */
    public Stream<Version> history(InstanceId instance, History history) {
        return Pages.stream(history.limit(), Optional.empty(), (limit, after) -> {
            Query query = page(history.query(), OptionalLong.of(limit), after);
            JsonObject found = get(of(instance) + "/history", query);
            return Page.of(found, json -> Version.of(json, instance.kind()));
        });
    }

    /**
     * The versions of an entity, newest first.
     *
     * @param entityId the id of the entity
     * @return the versions
     */
    public Stream<Version> history(String entityId) {
        return history(InstanceId.entity(entityId));
    }

    /**
     * An instance in one version.
     *
     * @param instance the instance
     * @param number the number of the version, from 1
     * @return the instance as it was
     * @throws AnnalsException kind {@code not-found}: no such version
     */
    public Instance version(InstanceId instance, int number) {
        String target = of(instance) + "/versions/" + number;
        return Instance.of(instance.kind(), getAsOf(target, Query.NONE));
    }

    /**
     * How two versions of an instance differ.
     *
     * @param instance the instance
     * @param from the number of one version
     * @param to the number of the other version
     * @return the difference
     */
    public Difference difference(InstanceId instance, int from, int to) {
        return Difference.of(
                getAsOf(of(instance) + "/diff", Query.NONE.and("from", from).and("to", to)));
    }

    /**
     * How instances changed between two positions.
     *
     * @param from the earlier position
     * @param to the later position
     * @return the changes
     * @throws AnnalsException kind {@code not-found}, while you read: the repository has no such position
     */
    public Stream<InstanceChange> changes(long from, long to) {
        Query ends = Query.NONE.and("from", from).and("to", to);
        return Pages.stream(OptionalLong.empty(), Optional.empty(), (limit, after) -> {
            open();
            Query query = page(ends, OptionalLong.of(limit), after);
            return Page.of(client.get(query.on("/v1/diff")), InstanceChange::of);
        });
    }

    // Types, trees, contents.

    /**
     * The declared types.
     *
     * @return the types
     */
    public List<TypeDefinition> types() {
        return types(Query.NONE);
    }

    /**
     * The declared types of one kind.
     *
     * @param kind the kind
     * @return the types
     */
    public List<TypeDefinition> types(TypeKind kind) {
        return types(Query.NONE.and("kind", kind));
    }

    /**
     * The declared types with the id of another system.
     *
     * @param externalId the id
     * @return the types
     */
    public List<TypeDefinition> typesByExternalId(String externalId) {
        return types(Query.NONE.and("externalId", externalId));
    }

    private List<TypeDefinition> types(Query query) {
        return Page.of(getAsOf("/v1/types", query), TypeDefinition::of).items();
    }

    /**
     * A declared type.
     *
     * @param kind its kind
     * @param name its name
     * @return the type, if it is declared
     */
    public Optional<TypeDefinition> type(TypeKind kind, String name) {
        try {
            return Optional.of(TypeDefinition.of(getAsOf("/v1/types/" + kind + "/" + Utf8.percent(name), Query.NONE)));
        } catch (NotFoundException error) {
            return Optional.empty();
        }
    }

    /**
     * Compares a type with the declared one of its name.
     *
     * @param type the type
     * @return the outcome
     */
    public Verification verify(TypeDefinition type) {
        open();
        return Verification.of(client.send("POST", transactionTime.on("/v1/types/verify"), type.json()));
    }

    /**
     * The tree that starts at the entity {@code root}.
     *
     * @return the tree
     */
    public Tree tree() {
        open();
        return new Tree(client, time, shown, Optional.empty());
    }

    /**
     * The tree that starts at another entity.
     *
     * @param root the id of the entity
     * @return the tree
     */
    public Tree tree(String root) {
        open();
        return new Tree(client, time, shown, Optional.of(root));
    }

    /**
     * Opens the content that the property {@code content} of an entity names. Close it after use.
     *
     * @param entityId the id of the entity
     * @return the bytes
     * @throws AnnalsException kind {@code not-found}: no such entity, or it has no content
     */
    public InputStream content(String entityId) {
        return content(entityId, "content");
    }

    /**
     * Opens the content that a property of an entity names. Close it after use.
     *
     * @param entityId the id of the entity
     * @param property the property
     * @return the bytes
     * @throws AnnalsException kind {@code not-found}: no such entity, or it has no content
     */
    public InputStream content(String entityId, String property) {
        return content(entityId, property, Map.of());
    }

    /**
     * Opens a part of a content. Close it after use.
     *
     * @param entityId the id of the entity
     * @param property the property that names it
     * @param first the first byte, from 0
     * @param length the number of bytes, from 1; fewer are read at the end of the content
     * @return the bytes
     * @throws AnnalsException kind {@code not-found}; kind {@code invalid-argument}: the part begins behind the end
     */
    public InputStream content(String entityId, String property, long first, long length) {
        if (first < 0 || length < 1) {
            throw AnnalsException.invalid(
                    "expected a first byte from 0 and a length from 1, found " + first + " and " + length);
        }
        long last = first > Long.MAX_VALUE - length ? Long.MAX_VALUE : first + length - 1;
        return content(entityId, property, Map.of("range", "bytes=" + first + "-" + last));
    }

    private InputStream content(String entityId, String property, Map<String, String> headers) {
        open();
        Query query = Query.NONE.and("property", property).and(time);
        String target = query.on("/v1/content/" + Utf8.percent(InstanceId.check(entityId)));
        return client.stream("GET", target, headers, null).body();
    }

    // Helpers.

    @Override
    View view() {
        open();
        return view;
    }

    private void open() {
        if (isClosed) {
            throw AnnalsException.closed("snapshot");
        }
    }

    @Override
    JsonObject get(String path, Query query) {
        open();
        return client.get(query.and(time).on(path));
    }

    /** Numbered versions and types have no valid time. */
    private JsonObject getAsOf(String path, Query query) {
        open();
        return client.get(query.and(transactionTime).on(path));
    }

    private static String of(InstanceId instance) {
        return "/v1/" + instance.kind().path() + "/" + Utf8.percent(instance.id());
    }

    /** Frees what the snapshot holds. Streams of it end with {@code closed}. */
    @Override
    public void close() {
        isClosed = true;
        view.close();
    }
}
