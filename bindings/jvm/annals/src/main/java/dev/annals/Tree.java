package dev.annals;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The tree of containers, as a snapshot shows it. docs/trees.md describes it and the language of paths, such as
 * {@code /interfaces/interface[name='eth0']/mtu}.
 *
 * <p>An item is a map: a member with a map is a child, a member with a list of maps a list of items, any other member a
 * property with a value as in {@link NewEntity#set}. A property that is itself a map is {@code Map.of("$map", map)}; a
 * list that is empty or holds lists or maps is {@code Map.of("$list", list)}.
 *
 * <p>A path that does not read is an {@link AnnalsException} of the kind {@code invalid-argument}.
 */
public final class Tree {
    private final Client client;
    private final Query time;
    private final AsOf shown;
    private final Optional<String> root;

    Tree(Client client, Query time, AsOf shown, Optional<String> root) {
        this.client = client;
        this.time = time;
        this.shown = shown;
        this.root = root;
    }

    /**
     * Reads an item with everything below it, or the value of a property.
     *
     * @param path the path
     * @return the item as a map, or the value, if there is something
     */
    public Optional<Object> get(String path) {
        return get(path, Query.NONE);
    }

    /**
     * Reads an item with some of the levels below it.
     *
     * @param path the path
     * @param depth the number of levels; 0 for the item alone
     * @return the item as a map, if there is one
     */
    public Optional<Object> get(String path, int depth) {
        return get(path, Query.NONE.and("depth", depth));
    }

    /**
     * Reads an item with everything below it, and {@code @id} and {@code @type} of each item. If you put it again,
     * nothing changes.
     *
     * @param path the path
     * @return the item as a map, if there is one
     */
    public Optional<Object> getWithIds(String path) {
        return get(path, Query.NONE.and("ids", true));
    }

    private Optional<Object> get(String path, Query more) {
        try {
            return Optional.of(TreeValues.value(client.element(at("tree", path, more.and(time)))));
        } catch (NotFoundException error) {
            return Optional.empty();
        }
    }

    /**
     * Lists the children of an item, or the items of a list.
     *
     * @param path the path
     * @return the entries in order, read page by page while you ask for them
     * @throws AnnalsException kind {@code not-found}, while you read: there is nothing at the path
     */
    public Stream<TreeEntry> list(String path) {
        return list(path, TreeList.all());
    }

    /**
     * Lists some of the children of an item, or of the items of a list.
     *
     * @param path the path
     * @param list selects them
     * @return the entries in order, read page by page while you ask for them
     * @throws AnnalsException kind {@code not-found}, while you read: there is nothing at the path
     */
    public Stream<TreeEntry> list(String path, TreeList list) {
        return Pages.stream(list.limit(), list.after(), (limit, after) -> {
            TreeList page = list.limit(limit);
            return listPage(path, after.map(page::after).orElse(page));
        });
    }

    /**
     * Lists a page.
     *
     * @param path the path
     * @param list selects the entries
     * @return the page
     * @throws AnnalsException kind {@code not-found}: there is nothing at the path
     */
    public Page<TreeEntry> listPage(String path, TreeList list) {
        Query query = Snapshot.page(list.query(), list.limit(), list.after()).and(time);
        return Page.of(client.get(at("tree-list", path, query)), TreeEntry::of);
    }

    /**
     * Finds everything that a path leads to.
     *
     * @param path the path, also with conditions, {@code *} and {@code //}
     * @param limit the largest number of entries, 1 to 1,000
     * @return the items and properties in order
     */
    public List<TreeEntry> find(String path, int limit) {
        Query query = Query.NONE.and("limit", limit).and(time);
        return Page.of(client.get(at("tree-find", path, query)), TreeEntry::of).items();
    }

    /**
     * Says whether a path is a look-up, which costs the same however many siblings there are.
     *
     * @param path the path
     * @return true for a look-up, false for a search
     */
    public boolean isLookUp(String path) {
        return Json.flag(client.get("/v1/tree-explain/?path=" + Utf8.percent(path)), "isLookUp");
    }

    /**
     * How an item, and everything below it, changed between a time and the time of the snapshot.
     *
     * @param path the path
     * @param from the earlier time
     * @return the changes in the order of the tree, read page by page while you ask for them
     * @throws AnnalsException kind {@code not-found}, while you read: there is nothing at either time
     */
    public Stream<TreeChange> differences(String path, AsOf from) {
        return differences(path, from, shown);
    }

    /**
     * How an item, and everything below it, changed between two times.
     *
     * @param path the path
     * @param from the earlier time
     * @param to the later time
     * @return the changes in the order of the tree, read page by page while you ask for them
     * @throws AnnalsException kind {@code not-found}, while you read: there is nothing at either time
     */
    public Stream<TreeChange> differences(String path, AsOf from, AsOf to) {
        Query times = from.query("from").and(to.query("to"));
        return Pages.stream(OptionalLong.empty(), Optional.empty(), (limit, after) -> {
            Query query = Snapshot.page(times, OptionalLong.of(limit), after);
            JsonObject found = client.get(at("tree-diff", path, query));
            return Page.of(found, TreeChange::of);
        });
    }

    /** The path stands in the query, which no proxy changes. */
    private String at(String endpoint, String path, Query query) {
        Query all = Query.NONE.and("path", path).and(query);
        return root.map(id -> all.and("root", id)).orElse(all).on("/v1/" + endpoint + "/");
    }

    /**
     * Reads an item that must be there.
     *
     * @param path the path of an item
     * @return its members by name
     * @throws AnnalsException kind {@code not-found}: there is nothing; kind {@code invalid-argument}: it is a property
     */
    @SuppressWarnings("unchecked") // An item is a map with names.
    public Map<String, Object> item(String path) {
        Object found = get(path)
                .orElseThrow(() -> AnnalsException.of(
                        "not-found", "path " + path + ": there is nothing at this time", (String) null));
        if (!(found instanceof Map<?, ?> map) || TreeValues.isForm(map)) {
            throw AnnalsException.invalid("path " + path + ": expected an item, found the value of a property");
        }
        return (Map<String, Object>) map;
    }
}
