package dev.annals;

import com.google.gson.JsonObject;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/** Reads of a snapshot or an open transaction in this process, in the packed form. */
final class NativeView implements View {
    private static final int POSITION = 0;
    private static final int GET_MANY = 1;
    private static final int FIND = 2;
    private static final int COUNT = 3;
    private static final int LINKS = 4;
    private static final int KNOWN = 6;
    private static final int NEIGHBORS_PAGE = 7;
    private static final int WITH_RELATIONSHIPS = 1;
    private static final int WITH_ENTITIES = 2;
    private static final int WITHOUT_RELATIONSHIPS = 4;

    private final Handle handle;
    private final Handle repository;

    NativeView(Handle handle, Handle repository) {
        this.handle = handle;
        this.repository = repository;
    }

    /** Errors: {@code closed}, also if only the repository is closed. */
    private long number() {
        repository.number();
        return handle.number();
    }

    /** Opens a snapshot of a repository as of a time. */
    static NativeView open(Handle repository, AsOf time) {
        JsonObject json = new JsonObject();
        time.addTo(json);
        try {
            byte[] asOf = json.size() == 0 ? null : Json.bytes(json);
            return new NativeView(new Handle("snapshot", Native.snapshot(repository.number(), asOf)), repository);
        } catch (AnnalsException error) {
            throw error.exact();
        } finally {
            Reference.reachabilityFence(repository);
        }
    }

    /** The position that it shows. */
    long position() {
        return read(POSITION, new byte[0]).i64();
    }

    @Override
    public Optional<Instance> get(InstanceId id) {
        byte[] found;
        try {
            found = Native.get(number(), id.kind().ordinal(), Utf8.encode(id.id()));
        } catch (AnnalsException error) {
            return absent(error);
        } finally {
            Reference.reachabilityFence(handle);
        }
        return found == null ? Optional.empty() : live(new PackReader(found).instance());
    }

    /** Native code makes exceptions of the general class. */
    private static Optional<Instance> absent(AnnalsException error) {
        if (error.kind().equals("not-found") || error.kind().equals("deleted")) {
            return Optional.empty();
        }
        throw error.exact();
    }

    private static Optional<Instance> live(Instance found) {
        return found.isDeleted() ? Optional.empty() : Optional.of(found);
    }

    @Override
    public List<Optional<Instance>> get(Kind kind, List<String> ids) {
        return many(GET_MANY, kind, ids, NativeView::live);
    }

    @Override
    public List<Optional<Instance>> known(Kind kind, List<String> ids) {
        return many(KNOWN, kind, ids, Optional::of);
    }

    private List<Optional<Instance>> many(
            int operation, Kind kind, List<String> ids, Function<Instance, Optional<Instance>> shown) {
        PackReader reader =
                read(operation, new PackWriter().u8(kind.ordinal()).texts(ids).bytes());
        int count = reader.u32();
        List<Optional<Instance>> all = new ArrayList<>(count);
        for (int index = 0; index < count; index++) {
            all.add(reader.u8() == 0 ? Optional.empty() : shown.apply(reader.instance()));
        }
        return all;
    }

    @Override
    @SuppressWarnings("unchecked") // The kind of the search says which of the two an instance is.
    public <T extends Instance> Page<T> find(Find<T> find) {
        return page(read(FIND, Json.bytes(find.request())), reader -> (T) reader.instance());
    }

    private static <T> Page<T> page(PackReader reader, Function<PackReader, T> item) {
        int count = reader.u32();
        List<T> items = new ArrayList<>(count);
        for (int index = 0; index < count; index++) {
            items.add(item.apply(reader));
        }
        boolean hasNext = reader.u8() == 1;
        Optional<String> next = hasNext ? Optional.of(reader.text()) : Optional.empty();
        return new Page<>(List.copyOf(items), next, OptionalLong.empty());
    }

    @Override
    public long count(Find<?> find) {
        return read(COUNT, Json.bytes(find.request())).i64();
    }

    @Override
    public Page<Neighbor> neighborsPage(String id, Links links) {
        Direction direction = links.direction().orElse(Direction.OUT);
        PackWriter request = new PackWriter()
                .u8(direction.ordinal())
                .text(links.types().isEmpty() ? "" : links.types().get(0))
                .text(links.after().orElse(""))
                .u32((int) links.limit().orElse(Pages.DEFAULT))
                .text(id);
        return page(read(NEIGHBORS_PAGE, request.bytes()), reader -> {
            Relationship relationship = (Relationship) reader.instance();
            return new Neighbor(direction, relationship, (Entity) reader.instance());
        });
    }

    @Override
    public Map<String, List<Neighbor>> neighbors(List<String> ids, Links links) {
        return links(ids, links, WITH_RELATIONSHIPS | WITH_ENTITIES, reader -> {
            Direction direction = direction(reader);
            Relationship relationship = (Relationship) reader.instance();
            return new Neighbor(direction, relationship, (Entity) reader.instance());
        });
    }

    @Override
    public Map<String, List<Entity>> neighborEntities(List<String> ids, Links links) {
        return links(ids, links, WITH_ENTITIES, reader -> {
            direction(reader);
            reader.skipText();
            return (Entity) reader.instance();
        });
    }

    @Override
    public Map<String, List<String>> neighborIds(List<String> ids, Links links) {
        return links(ids, links, WITHOUT_RELATIONSHIPS, reader -> {
            direction(reader);
            reader.skipText();
            return reader.text();
        });
    }

    @Override
    public Map<String, List<Relationship>> neighborRelationships(List<String> ids, Links links) {
        return links(ids, links, WITH_RELATIONSHIPS, reader -> {
            direction(reader);
            Relationship found = (Relationship) reader.instance();
            reader.skipText();
            return found;
        });
    }

    private static Direction direction(PackReader reader) {
        return reader.u8() == 0 ? Direction.OUT : Direction.IN;
    }

    /** Of an id that is repeated the repository tells the links once. */
    private <T> Map<String, List<T>> links(List<String> repeated, Links links, int parts, Function<PackReader, T> read) {
        List<String> ids = repeated.stream().distinct().toList();
        PackWriter request = new PackWriter()
                .u8(links.direction().orElse(Direction.OUT).ordinal())
                .u8(parts)
                .texts(links.types())
                .u32((int) links.limit().orElse(0))
                .texts(ids);
        List<List<T>> lists = new ArrayList<>(ids.size());
        ids.forEach(id -> lists.add(new ArrayList<>()));
        PackReader reader = read(LINKS, request.bytes());
        int count = reader.u32();
        for (int index = 0; index < count; index++) {
            int place = reader.u32();
            lists.get(place).add(read.apply(reader));
        }
        Map<String, List<T>> found = new LinkedHashMap<>();
        for (int place = 0; place < ids.size(); place++) {
            found.put(ids.get(place), List.copyOf(lists.get(place)));
        }
        return found;
    }

    private PackReader read(int operation, byte[] request) {
        try {
            return new PackReader(Native.read(number(), operation, request));
        } catch (AnnalsException error) {
            throw error.exact();
        } finally {
            Reference.reachabilityFence(handle);
        }
    }

    @Override
    public void close() {
        handle.close();
    }
}
