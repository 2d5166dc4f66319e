package dev.annals;

import java.util.ArrayList;
import java.util.List;

/** The parameters of a request, in order; a name may stand several times. Immutable. */
final class Query {
    static final Query NONE = new Query(List.of());

    private final List<String> pairs;

    private Query(List<String> pairs) {
        this.pairs = pairs;
    }

    Query and(String name, Object value) {
        List<String> more = new ArrayList<>(pairs);
        more.add(name + "=" + Utf8.percent(value.toString()));
        return new Query(more);
    }

    /** The parameter has this value, and no other one. */
    Query set(String name, Object value) {
        List<String> others = new ArrayList<>(pairs);
        others.removeIf(pair -> pair.startsWith(name + "="));
        return new Query(others).and(name, value);
    }

    Query and(String name, Iterable<String> values) {
        Query query = this;
        for (String value : values) {
            query = query.and(name, value);
        }
        return query;
    }

    Query and(Query other) {
        List<String> more = new ArrayList<>(pairs);
        more.addAll(other.pairs);
        return new Query(more);
    }

    boolean isEmpty() {
        return pairs.isEmpty();
    }

    /** The path with these parameters behind it. */
    String on(String path) {
        return pairs.isEmpty() ? path : path + "?" + String.join("&", pairs);
    }
}
