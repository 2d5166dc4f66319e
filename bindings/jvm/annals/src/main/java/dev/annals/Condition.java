package dev.annals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.Arrays;
import java.util.Collection;

/**
 * A condition of a search. A name that starts with {@code @}, such as {@code @createdBy}, is a header; any other name
 * is a property. docs/search.md describes each condition. Immutable.
 *
 * <p>Values have the classes that {@link NewEntity#set} lists; another class is an {@link AnnalsException} of the kind
 * {@code invalid-argument}.
 */
public final class Condition {
    private final JsonElement json;

    private Condition(JsonElement json) {
        this.json = json;
    }

    JsonElement json() {
        return json;
    }

    /**
     * A condition in the text form, such as {@code size >= 5 and not section = shells}.
     *
     * @param text the condition
     * @return the condition
     */
    public static Condition text(String text) {
        return new Condition(new JsonPrimitive(text));
    }

    /**
     * A condition in the JSON form of docs/search.md.
     *
     * @param json the JSON
     * @return the condition
     * @throws AnnalsException kind {@code invalid-argument}: the text is no JSON
     */
    public static Condition json(String json) {
        return new Condition(Json.parse(json));
    }

    /**
     * The value is equal; numbers by numeric value.
     *
     * @param name the property
     * @param value the value
     * @return the condition
     */
    public static Condition equal(String name, Object value) {
        return of(name, "=", value);
    }

    /**
     * The property exists and is not equal.
     *
     * @param name the property
     * @param value the value
     * @return the condition
     */
    public static Condition notEqual(String name, Object value) {
        return of(name, "!=", value);
    }

    /**
     * The value is less.
     *
     * @param name the property
     * @param value the bound
     * @return the condition
     */
    public static Condition lessThan(String name, Object value) {
        return of(name, "<", value);
    }

    /**
     * The value is less or equal.
     *
     * @param name the property
     * @param value the bound
     * @return the condition
     */
    public static Condition atMost(String name, Object value) {
        return of(name, "<=", value);
    }

    /**
     * The value is greater.
     *
     * @param name the property
     * @param value the bound
     * @return the condition
     */
    public static Condition greaterThan(String name, Object value) {
        return of(name, ">", value);
    }

    /**
     * The value is greater or equal.
     *
     * @param name the property
     * @param value the bound
     * @return the condition
     */
    public static Condition atLeast(String name, Object value) {
        return of(name, ">=", value);
    }

    /**
     * The value is not less than one bound and not greater than the other.
     *
     * @param name the property
     * @param least the lower bound
     * @param most the upper bound
     * @return the condition
     */
    public static Condition between(String name, Object least, Object most) {
        return many(name, "between", Arrays.asList(least, most));
    }

    /**
     * The value equals one of the given ones, at most 10,000.
     *
     * @param name the property
     * @param values the values
     * @return the condition
     */
    public static Condition in(String name, Collection<?> values) {
        return many(name, "in", values);
    }

    /**
     * The value is a text that starts with this one.
     *
     * @param name the property
     * @param start the start of the text
     * @return the condition
     */
    public static Condition startsWith(String name, String start) {
        return of(name, "^=", start);
    }

    /**
     * The value is a text that ends with this one.
     *
     * @param name the property
     * @param end the end of the text
     * @return the condition
     */
    public static Condition endsWith(String name, String end) {
        return of(name, "$=", end);
    }

    /**
     * The value is a text that contains this one.
     *
     * @param name the property
     * @param part the part
     * @return the condition
     */
    public static Condition contains(String name, String part) {
        return of(name, "~=", part);
    }

    /**
     * The value is a text that a regular expression (syntax of the Rust crate regex) matches as a whole.
     *
     * @param name the property
     * @param expression the regular expression, at most 4 KiB
     * @return the condition
     */
    public static Condition matches(String name, String expression) {
        return of(name, "=~", expression);
    }

    /**
     * The value is a list or a set with this element.
     *
     * @param name the property
     * @param element the element
     * @return the condition
     */
    public static Condition has(String name, Object element) {
        return of(name, "has", element);
    }

    /**
     * The property is present.
     *
     * @param name the property
     * @return the condition
     */
    public static Condition exists(String name) {
        return new Condition(test(name, "exists"));
    }

    /**
     * The property is absent.
     *
     * @param name the property
     * @return the condition
     */
    public static Condition missing(String name) {
        return new Condition(test(name, "missing"));
    }

    /**
     * Any text of any property contains this part.
     *
     * @param part the part
     * @return the condition
     */
    public static Condition anyText(String part) {
        JsonObject json = new JsonObject();
        json.addProperty("text", true);
        json.addProperty("operator", "contains");
        json.addProperty("value", part);
        return new Condition(json);
    }

    /**
     * The entity has this classification, or a subtype of it.
     *
     * @param name the classification
     * @param conditions conditions on the properties of the classification; all must hold
     * @return the condition
     */
    public static Condition classified(String name, Condition... conditions) {
        JsonObject json = new JsonObject();
        json.addProperty("classified", name);
        if (conditions.length > 0) {
            json.add("where", array(conditions));
        }
        return new Condition(json);
    }

    /**
     * All conditions hold.
     *
     * @param conditions the conditions
     * @return the condition
     */
    public static Condition all(Condition... conditions) {
        return group("all", conditions);
    }

    /**
     * At least one condition holds.
     *
     * @param conditions the conditions
     * @return the condition
     */
    public static Condition any(Condition... conditions) {
        return group("any", conditions);
    }

    /**
     * No condition holds.
     *
     * @param conditions the conditions
     * @return the condition
     */
    public static Condition none(Condition... conditions) {
        return group("none", conditions);
    }

    /**
     * The same condition, without regard to upper and lower case of texts.
     *
     * @return the condition
     * @throws AnnalsException kind {@code invalid-argument}: it is no condition on a single text
     */
    public Condition ignoringCase() {
        if (!(json instanceof JsonObject object) || !object.has("operator")) {
            throw AnnalsException.invalid("ignoringCase: expected a condition on a text, found " + json);
        }
        JsonObject copy = object.deepCopy();
        copy.addProperty("nocase", true);
        return new Condition(copy);
    }

    /**
     * The JSON form.
     *
     * @return the JSON
     */
    @Override
    public String toString() {
        return json.toString();
    }

    private static Condition of(String name, String operator, Object value) {
        JsonObject json = test(name, operator);
        json.add("value", Values.json(Values.canonical(name, value)));
        return new Condition(json);
    }

    private static Condition many(String name, String operator, Collection<?> values) {
        JsonArray array = new JsonArray();
        values.forEach(value -> array.add(Values.json(Values.canonical(name, value))));
        JsonObject json = test(name, operator);
        json.add("values", array);
        return new Condition(json);
    }

    private static JsonObject test(String name, String operator) {
        JsonObject json = new JsonObject();
        if (name.startsWith("@")) {
            json.addProperty("header", name.substring(1));
        } else {
            json.addProperty("property", name);
        }
        json.addProperty("operator", operator);
        return json;
    }

    private static Condition group(String name, Condition... conditions) {
        JsonObject json = new JsonObject();
        json.add(name, array(conditions));
        return new Condition(json);
    }

    private static JsonArray array(Condition... conditions) {
        JsonArray array = new JsonArray();
        for (Condition condition : conditions) {
            array.add(condition.json);
        }
        return array;
    }
}
