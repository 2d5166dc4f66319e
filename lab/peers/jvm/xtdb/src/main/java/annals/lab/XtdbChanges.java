package annals.lab;

import clojure.java.api.Clojure;
import clojure.lang.IPersistentMap;
import clojure.lang.PersistentVector;
import com.eclipsesource.json.JsonObject;
import com.eclipsesource.json.JsonValue;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import xtdb.api.HistoryOptions;
import xtdb.api.ICursor;
import xtdb.api.IXtdbDatasource;
import xtdb.api.XtdbDocument;
import xtdb.api.tx.Transaction;

/**
 * The changes of one transaction. It reads the documents that it changes, and the transaction is refused if one of them
 * is another by then. Each change makes one version.
 */
final class XtdbChanges {
    /** With corrections: transactions of the same millisecond are corrections of each other to XTDB. */
    static final HistoryOptions NEWEST_FIRST =
        HistoryOptions.create(HistoryOptions.SortOrder.DESC).withDocs(true).withCorrections(true);

    private static final Object DOCUMENT = Clojure.read(":xtdb.api/doc");
    private static final String AUTHOR = "lab";

    private final IXtdbDatasource now;
    private final Map<String, XtdbInstance.Type> types;
    private final Date time = new Date();
    /** The documents as they were read; null for those that were not there. */
    private final Map<String, XtdbDocument> before = new LinkedHashMap<>();
    private final Map<String, XtdbInstance> changed = new LinkedHashMap<>();
    private final Set<String> evicted = new LinkedHashSet<>();

    XtdbChanges(IXtdbDatasource now, Map<String, XtdbInstance.Type> types) {
        this.now = now;
        this.types = types;
    }

    /** All changes as one transaction. */
    Transaction transaction() {
        return Transaction.buildTx(transaction -> {
            before.forEach((id, document) -> {
                if (document == null) {
                    transaction.matchNotExists(id);
                } else {
                    transaction.match(document);
                }
            });
            changed.values().forEach(one -> transaction.put(one.document()));
            evicted.forEach(transaction::evict);
        });
    }

    void add(JsonObject operation) throws Exception {
        String id = operation.getString("id", "");
        String name = operation.getString("classification", "");
        switch (operation.getString("action", "")) {
            case "create" -> create(id, operation);
            case "save-copy" -> saveCopy(id, operation);
            case "save-classification-copy" -> {
                change(id).classify(name, operation.getString("home", ""), object(operation, "properties"));
            }
            case "replace" -> change(id).setProperties(object(operation, "properties"));
            case "undo" -> undo(id);
            case "delete" -> delete(id, operation.getString("type", ""));
            case "restore" -> restore(id);
            case "purge" -> purge(id, operation.getBoolean("deletedOnly", false));
            case "purge-copy" -> {
                expect(read(id).text("home"), operation.getString("home", ""));
                evict(id);
            }
            case "rehome" -> {
                expect(read(id).text("home"), operation.getString("home", ""));
                change(id).set("home", XtdbInstance.OWN);
            }
            case "retype" -> change(id).setType(type(operation));
            case "reidentify" -> reidentify(id, operation.getString("newId", ""));
            case "classify" -> change(id).classify(name, XtdbInstance.OWN, object(operation, "properties"));
            case "reclassify" -> classified(id, name).reclassify(name, object(operation, "patch"));
            case "declassify" -> classified(id, name).declassify(name);
            case "purge-classification-copy" -> {
                XtdbInstance one = classified(id, name);
                expect(one.homeOf(name), operation.getString("home", ""));
                one.declassify(name);
            }
            default -> throw new IllegalArgumentException("action: no change has this name: " + operation);
        }
    }

    private static JsonObject object(JsonObject operation, String name) {
        return operation.get(name).asObject();
    }

    private static void expect(Object found, String expected) throws XtdbDocuments.Refusal {
        if (!expected.equals(found)) {
            throw new XtdbDocuments.Refusal("expected " + expected + ", found " + found);
        }
    }

    private XtdbInstance.Type type(JsonObject operation) throws XtdbDocuments.Refusal {
        String name = operation.getString("type", "");
        XtdbInstance.Type type = types.get(name);
        if (type == null) {
            throw new XtdbDocuments.Refusal("no type has the name " + name);
        }
        return type;
    }

    /** The instance as it is after the changes so far; null if there is none. It may be deleted. */
    private XtdbInstance find(String id) {
        if (changed.containsKey(id)) {
            return changed.get(id);
        }
        XtdbDocument document = now.entity(id);
        before.put(id, document);
        return document == null ? null : new XtdbInstance(document);
    }

    /** A live instance. */
    private XtdbInstance read(String id) throws XtdbDocuments.Refusal {
        return read(id, XtdbInstance.LIVE);
    }

    private XtdbInstance read(String id, String state) throws XtdbDocuments.Refusal {
        XtdbInstance one = find(id);
        if (one == null || !one.is(state)) {
            throw new XtdbDocuments.Refusal(id + ": no " + state + " instance has this id");
        }
        return one;
    }

    /** A live instance, to be changed. */
    private XtdbInstance change(String id) throws XtdbDocuments.Refusal {
        return update(read(id));
    }

    /** The same, with this classification. */
    private XtdbInstance classified(String id, String name) throws XtdbDocuments.Refusal {
        XtdbInstance one = change(id);
        if (!one.hasClassification(name)) {
            throw new XtdbDocuments.Refusal(id + ": it has no classification " + name);
        }
        return one;
    }

    /** Makes the next version of an instance. */
    private XtdbInstance update(XtdbInstance one) {
        if (!changed.containsKey(one.id)) {
            one.set("version", one.version() + 1);
            one.set("updateTime", time);
            one.set("updatedBy", AUTHOR);
            changed.put(one.id, one);
        }
        return one;
    }

    /** An instance that is not there yet. */
    private XtdbInstance add(String id, JsonObject about) throws XtdbDocuments.Refusal {
        if (find(id) != null) {
            throw new XtdbDocuments.Refusal(id + ": it is there already");
        }
        XtdbInstance one = new XtdbInstance(id);
        XtdbInstance.Type type = type(about);
        one.setType(type);
        one.set("state", XtdbInstance.LIVE);
        one.set("status", type.status());
        one.set("home", about.getString("home", XtdbInstance.OWN));
        one.set("version", 1L);
        one.set("createTime", time);
        one.set("createdBy", AUTHOR);
        one.set("updateTime", time);
        one.set("updatedBy", AUTHOR);
        one.setProperties(object(about, "properties"));
        changed.put(id, one);
        return one;
    }

    private void create(String id, JsonObject operation) throws XtdbDocuments.Refusal {
        XtdbInstance one = add(id, operation);
        one.set("kind", operation.getString("kind", ""));
        if (operation.get("from") != null) {
            setEnds(one, operation.getString("from", ""), operation.getString("to", ""));
            for (String end : List.of(one.text("from"), one.text("to"))) {
                read(end);
            }
        }
    }

    private static void setEnds(XtdbInstance relationship, String from, String to) {
        relationship.set("from", from);
        relationship.set("to", to);
        relationship.set("ends", PersistentVector.create(List.of(from, to)));
    }

    private void saveCopy(String id, JsonObject operation) throws XtdbDocuments.Refusal {
        XtdbInstance one = add(id, operation);
        one.set("kind", operation.getString("kind", ""));
        one.set("version", operation.getLong("version", 1));
        one.set("status", operation.getString("status", ""));
        for (String event : List.of("created", "updated")) {
            JsonObject stamp = object(operation, event);
            one.set(event.substring(0, 6) + "Time", Date.from(Instant.parse(stamp.getString("instant", ""))));
            one.set(event + "By", stamp.getString("author", ""));
        }
        if (operation.get("from") == null) {
            return;
        }
        setEnds(one, operation.getString("from", ""), operation.getString("to", ""));
        for (JsonValue value : operation.get("proxies").asArray()) {
            JsonObject proxy = value.asObject();
            if (find(proxy.getString("id", "")) == null) {
                XtdbInstance entity = add(proxy.getString("id", ""), proxy);
                entity.set("kind", "entity");
                entity.set("state", XtdbInstance.PROXY);
            }
        }
    }

    private void undo(String id) throws Exception {
        XtdbInstance one = read(id);
        long wanted = one.version() - 1;
        XtdbDocument earlier = null;
        try (ICursor<? extends Map<?, ?>> versions = now.openEntityHistory(id, NEWEST_FIRST)) {
            while (earlier == null && versions.hasNext()) {
                XtdbInstance version = new XtdbInstance(XtdbDocument.factory(
                    (IPersistentMap) versions.next().get(DOCUMENT)));
                earlier = version.version() == wanted ? version.document() : null;
            }
        }
        if (earlier == null) {
            throw new XtdbDocuments.Refusal(id + ": it has no version before");
        }
        XtdbInstance back = new XtdbInstance(earlier);
        back.set("version", one.version());
        update(back);
    }

    private void delete(String id, String typeName) throws XtdbDocuments.Refusal {
        XtdbInstance one = read(id);
        if (!((List<?>) one.get("types")).contains(typeName)) {
            throw new XtdbDocuments.Refusal(id + ": expected a " + typeName + ", found a " + one.text("type"));
        }
        for (XtdbInstance relationship : relationshipsOf(one)) {
            if (relationship.is(XtdbInstance.LIVE)) {
                markDeleted(relationship);
            }
        }
        markDeleted(one);
    }

    private void markDeleted(XtdbInstance one) {
        update(one);
        one.set("statusOnDelete", one.get("status"));
        one.set("status", XtdbInstance.DELETED);
        one.set("state", XtdbInstance.DELETED);
    }

    private void restore(String id) throws XtdbDocuments.Refusal {
        XtdbInstance one = update(read(id, XtdbInstance.DELETED));
        one.set("status", one.get("statusOnDelete"));
        one.set("state", XtdbInstance.LIVE);
    }

    private void purge(String id, boolean isDeletedOnly) throws XtdbDocuments.Refusal {
        if (isDeletedOnly) {
            read(id, XtdbInstance.DELETED);
        }
        evict(id);
    }

    /** Removes an instance with its history, and the relationships of an entity with theirs. */
    private void evict(String id) throws XtdbDocuments.Refusal {
        XtdbInstance one = find(id);
        if (one == null) {
            throw new XtdbDocuments.Refusal(id + ": no such instance");
        }
        relationshipsOf(one).forEach(relationship -> evicted.add(relationship.id));
        evicted.add(id);
    }

    private void reidentify(String id, String newId) throws XtdbDocuments.Refusal {
        XtdbInstance old = read(id);
        if (find(newId) != null) {
            throw new XtdbDocuments.Refusal(newId + ": it is there already");
        }
        XtdbInstance renamed = new XtdbInstance(newId);
        renamed.copyFrom(old);
        renamed.set("reidentifiedFrom", id);
        update(renamed);
        for (XtdbInstance relationship : relationshipsOf(old)) {
            if (relationship.is(XtdbInstance.LIVE)) {
                update(relationship);
                String from = relationship.text("from");
                String to = relationship.text("to");
                setEnds(relationship, from.equals(id) ? newId : from, to.equals(id) ? newId : to);
            }
        }
        markDeleted(old);
    }

    /** The relationships of an entity in every state, after the changes so far. */
    private List<XtdbInstance> relationshipsOf(XtdbInstance one) {
        if (!one.text("kind").equals("entity")) {
            return List.of();
        }
        List<XtdbInstance> found = new ArrayList<>();
        for (XtdbInstance other : changed.values()) {
            if (other.get("ends") instanceof List<?> ends && ends.contains(one.id)) {
                found.add(other);
            }
        }
        for (List<?> row : now.query(XtdbWalks.ALL_OF, one.id)) {
            String id = (String) row.get(0);
            if (!changed.containsKey(id)) {
                found.add(find(id));
            }
        }
        return found;
    }
}
