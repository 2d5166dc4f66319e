package dev.annals;

import com.google.gson.JsonObject;
import java.util.Optional;

/**
 * A place in a list that users order.
 *
 * @param insert {@code first}, {@code last}, {@code before} or {@code after}
 * @param sibling the step of the item before or after which it is
 */
public record Place(String insert, Optional<String> sibling) {
    /**
     * Before all items.
     *
     * @return the place
     */
    public static Place first() {
        return new Place("first", Optional.empty());
    }

    /**
     * Behind all items.
     *
     * @return the place
     */
    public static Place last() {
        return new Place("last", Optional.empty());
    }

    /**
     * Before an item.
     *
     * @param sibling the step of the item, such as {@code rule[id=7]}
     * @return the place
     */
    public static Place before(String sibling) {
        return new Place("before", Optional.of(sibling));
    }

    /**
     * Behind an item.
     *
     * @param sibling the step of the item, such as {@code rule[id=7]}
     * @return the place
     */
    public static Place after(String sibling) {
        return new Place("after", Optional.of(sibling));
    }

    void addTo(JsonObject operation) {
        operation.addProperty("insert", insert);
        sibling.ifPresent(step -> operation.addProperty("sibling", step));
    }
}
