package dev.annals;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;

/** Properties by name, in two arrays: what an instance with few properties needs, and not more. */
final class Fields extends AbstractMap<String, Object> {
    private static final int SCANNED_MAX = 16;

    private final String[] names;
    private final Object[] values;

    /** Filled by the first look-up in many names. */
    private Map<String, Object> byName;

    Fields(String[] names, Object[] values) {
        this.names = names;
        this.values = values;
    }

    @Override
    public Object get(Object name) {
        if (names.length > SCANNED_MAX) {
            return byName().get(name);
        }
        for (int index = 0; index < names.length; index++) {
            if (names[index].equals(name)) {
                return values[index];
            }
        }
        return null;
    }

    @Override
    public boolean containsKey(Object name) {
        return get(name) != null;
    }

    private Map<String, Object> byName() {
        Map<String, Object> known = byName;
        if (known == null) {
            known = new HashMap<>();
            for (int index = 0; index < names.length; index++) {
                known.put(names[index], values[index]);
            }
            byName = known;
        }
        return known;
    }

    @Override
    public int size() {
        return names.length;
    }

    @Override
    public Set<Entry<String, Object>> entrySet() {
        return new AbstractSet<>() {
            @Override
            public int size() {
                return names.length;
            }

            @Override
            public Iterator<Entry<String, Object>> iterator() {
                return new Entries();
            }
        };
    }

    private final class Entries implements Iterator<Entry<String, Object>> {
        private int index;

        @Override
        public boolean hasNext() {
            return index < names.length;
        }

        @Override
        public Entry<String, Object> next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            index++;
            return Map.entry(names[index - 1], values[index - 1]);
        }
    }
}
