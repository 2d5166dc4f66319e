package dev.annals.egeria;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;

/** Egeria's in-memory repository and one on Annals, which get the same calls and must give the same results. */
final class Oracle {
    private static final int SHOWN_MAX = 20;

    final LocalServer memory;
    final LocalServer annals;
    private final List<Map<String, String>> names = List.of(new HashMap<>(), new HashMap<>());
    /** Identifiers that an entity had before. Relationships of the in-memory repository may still name them. */
    private final Map<String, String> former = new HashMap<>();

    private final List<String> differences = new ArrayList<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private int nextName;

    Oracle(LocalServer memory, LocalServer annals) {
        this.memory = memory;
        this.annals = annals;
    }

    /** An instance that both have, under identifiers of their own. */
    static final class Item {
        final String name;
        final String type;
        /** Null for entities. */
        final Item one;

        final Item two;
        /** The home of a copy; null for own instances. */
        String home;

        String[] guids;
        boolean isDeleted;
        boolean isClassified;
        boolean isRehomed;
        boolean canUndo;

        Item(String name, String type, Item one, Item two) {
            this.name = name;
            this.type = type;
            this.one = one;
            this.two = two;
        }
    }

    /** A call on one of the repositories. */
    interface Call {
        Object on(Side side) throws Exception;
    }

    /** One of the repositories. */
    record Side(int index, LocalServer server) {
        OMRSMetadataCollection collection() {
            return server.collection;
        }

        String guid(Item item) {
            return item.guids[index];
        }
    }

    Item item(String type, Item one, Item two, String... guids) {
        Item item = new Item("#" + nextName++, type, one, two);
        item.guids = guids;
        name(item);
        return item;
    }

    private void name(Item item) {
        for (int side = 0; side < 2; side++) {
            names.get(side).put(item.guids[side], item.name);
        }
    }

    /** The instance has another identifier now. */
    void rename(Item item, String guid) {
        forget(item);
        for (String old : item.guids) {
            former.put(old, item.name);
        }
        item.guids = new String[] {guid, guid};
        name(item);
    }

    /** From now on lists are compared without this instance. */
    void forget(Item item) {
        for (int side = 0; side < 2; side++) {
            names.get(side).remove(item.guids[side]);
        }
    }

    /** Makes the call on both and compares. Shape: both results; null where the call failed or had none. */
    Object[] call(String label, Call call) {
        Object[] results = new Object[2];
        String[] texts = new String[2];
        for (int index = 0; index < 2; index++) {
            Side side = new Side(index, index == 0 ? memory : annals);
            Plain plain = new Plain(names.get(index)::get, former::get);
            try {
                results[index] = call.on(side);
                texts[index] = plain.of(results[index]);
            } catch (Exception error) {
                texts[index] = "throws " + error.getClass().getSimpleName();
                if (index == 1 && !texts[0].equals(texts[1])) {
                    texts[index] += ": " + error.getMessage();
                }
            }
        }
        String method = label.split(" ")[0];
        counts.merge(method, 1, Integer::sum);
        // The in-memory repository fails where an entity has no classifications: it says nothing then.
        if (!texts[0].equals(texts[1]) && !texts[0].equals("throws NullPointerException")) {
            counts.merge(method + " (different)", 1, Integer::sum);
            if (differences.size() < SHOWN_MAX) {
                differences.add(label + "\n  memory: " + without(texts[0], texts[1]) + "\n  annals: "
                        + without(texts[1], texts[0]) + "\n");
            }
        }
        return results;
    }

    /** The lines of a text that another one does not have. */
    private static String without(String text, String other) {
        List<String> lines = new ArrayList<>(List.of(text.split("\n")));
        lines.removeAll(List.of(other.split("\n")));
        return String.join("\n", lines);
    }

    /** Both created an instance: from now on it has a name. Null if one of them failed. */
    Item create(String label, String type, Item one, Item two, Call call) {
        // The results are compared by their first read, when both identifiers have the same name.
        Object[] made = new Object[2];
        Object[] results = call(label, side -> {
            made[side.index()] = call.on(side);
            return "made";
        });
        if (results[0] == null || results[1] == null) {
            return null;
        }
        return item(type, one, two, ((InstanceHeader) made[0]).getGUID(), ((InstanceHeader) made[1]).getGUID());
    }

    Map<String, Integer> counts() {
        return counts;
    }

    List<String> differences() {
        return differences;
    }
}
