package dev.annals;

import com.google.gson.JsonObject;
import java.util.Map;
import java.util.Optional;

/**
 * Changes of a tree in a transaction. docs/trees.md describes paths and each change. Items are maps in the form that
 * {@link Tree} describes; anything else is the value of a property.
 */
public final class TreeChanges {
    private final Transaction transaction;
    private final Optional<String> root;

    TreeChanges(Transaction transaction, Optional<String> root) {
        this.transaction = transaction;
        this.root = root;
    }

    /**
     * Makes the item at a path exactly this one, or gives a property this value. What is missing is created.
     *
     * @param path the path
     * @param content an item as a map, or a value
     */
    public void put(String path, Object content) {
        change("put-tree", path, content);
    }

    /**
     * The same, but the item must exist ({@code not-found}).
     *
     * @param path the path
     * @param content an item as a map, or a value
     */
    public void replace(String path, Object content) {
        change("replace-tree", path, content);
    }

    /**
     * Gives an item these members beside its own.
     *
     * @param path the path
     * @param item the members
     */
    public void merge(String path, Object item) {
        change("merge-tree", path, item);
    }

    /**
     * Creates an item that must not exist yet ({@code already-exists}).
     *
     * @param path the path
     * @param content an item as a map, or a value
     */
    public void create(String path, Object content) {
        change("create-tree", path, content);
    }

    /**
     * Merges an item, and moves it to a place of its list.
     *
     * @param path the path
     * @param item the members
     * @param place the place
     */
    public void insert(String path, Map<String, ?> item, Place place) {
        JsonObject operation = content("insert-tree", path, item);
        place.addTo(operation);
        transaction.operate(operation);
    }

    /**
     * Deletes an item, with everything below it, or a property.
     *
     * @param path the path; nothing there is {@code not-found}
     */
    public void delete(String path) {
        transaction.operate(at("delete-tree", path));
    }

    /**
     * Deletes an item, with everything below it, or a property, if it is there.
     *
     * @param path the path
     */
    public void remove(String path) {
        transaction.operate(at("remove-tree", path));
    }

    /**
     * Moves an item with everything below it. Its history continues.
     *
     * @param from its path
     * @param to its new path
     */
    public void move(String from, String to) {
        transaction.operate(fromTo("move-tree", from, to));
    }

    /**
     * Moves an item to a place of a list.
     *
     * @param from its path
     * @param to its new path
     * @param place the place
     */
    public void move(String from, String to, Place place) {
        JsonObject operation = fromTo("move-tree", from, to);
        place.addTo(operation);
        transaction.operate(operation);
    }

    /**
     * Copies an item with everything below it, as new entities.
     *
     * @param from its path
     * @param to the path of the copy
     */
    public void copy(String from, String to) {
        transaction.operate(fromTo("copy-tree", from, to));
    }

    /**
     * Returns an item, and everything below it, to its state at a time, as new versions.
     *
     * @param path the path
     * @param time the time
     */
    public void revert(String path, AsOf time) {
        JsonObject operation = at("revert-tree", path);
        time.addTo(operation);
        transaction.operate(operation);
    }

    /**
     * Restores the item that was at a path, with everything that was deleted with it.
     *
     * @param path the path
     * @param time a time at which it was there
     */
    public void restore(String path, AsOf time) {
        JsonObject operation = at("restore-tree", path);
        time.addTo(operation);
        transaction.operate(operation);
    }

    private void change(String action, String path, Object content) {
        transaction.operate(content(action, path, content));
    }

    private JsonObject content(String action, String path, Object content) {
        JsonObject operation = at(action, path);
        boolean isItem = content instanceof Map<?, ?> map && !TreeValues.isForm(map);
        operation.add(isItem ? "item" : "value", TreeValues.json(path, content));
        return operation;
    }

    private JsonObject at(String action, String path) {
        return Operations.with(of(action), "path", path);
    }

    private JsonObject fromTo(String action, String from, String to) {
        return Operations.with(Operations.with(of(action), "from", from), "to", to);
    }

    private JsonObject of(String action) {
        JsonObject operation = Operations.of(action);
        root.ifPresent(id -> operation.addProperty("root", id));
        return operation;
    }
}
