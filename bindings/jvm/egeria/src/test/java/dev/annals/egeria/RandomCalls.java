package dev.annals.egeria;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.RelationshipDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.RelationshipEndDef;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;

/** A seeded sequence of calls. It keeps a few hundred instances, so that searches find some and the test stays quick. */
final class RandomCalls {
    private static final int ENTITIES_MAX = 150;
    private static final int RELATIONSHIPS_MAX = 200;
    private static final String HOME = "5d1f9b7e-6b0e-4a1e-9d5a-111111111111";
    private static final List<String> ENTITY_TYPES = List.of(
            "GlossaryTerm", "ControlledGlossaryTerm", "ToDo", "Meeting", "Collection", "Person", "RelationalColumn");
    private static final List<String> CLASSIFICATIONS = List.of("Confidence", "Retention", "SpineObject", "Memento");
    private static final List<String> RELATIONSHIP_TYPES =
            List.of("Synonym", "RelatedTerm", "SemanticAssignment", "CollectionMembership", "ResourceList");
    private static final List<InstanceStatus> STATUSES =
            List.of(InstanceStatus.ACTIVE, InstanceStatus.DRAFT, InstanceStatus.APPROVED, InstanceStatus.FAILED);
    private static final String USER = LocalServer.USER;

    private final Oracle oracle;
    private final Random random;
    private final RandomValues values;
    private final RandomSearches searches;
    private final RandomReads reads;
    private final List<Oracle.Item> entities = new ArrayList<>();
    private final List<Oracle.Item> relationships = new ArrayList<>();

    RandomCalls(Oracle oracle, long seed) {
        this.oracle = oracle;
        this.random = new Random(seed);
        this.values = new RandomValues(random);
        this.reads = new RandomReads(oracle, random, values, RELATIONSHIP_TYPES, entities, relationships);
        this.searches = new RandomSearches(oracle, random, values, ENTITY_TYPES, RELATIONSHIP_TYPES, CLASSIFICATIONS);
    }

    void next() {
        if (entities.size() < 8) {
            addEntity();
            return;
        }
        int choice = random.nextInt(100);
        if (choice < 12) {
            addEntity();
        } else if (choice < 24) {
            addRelationship();
        } else if (choice < 50) {
            entityCall(values.of(entities));
        } else if (choice < 65 && !relationships.isEmpty()) {
            relationshipCall(values.of(relationships));
        } else if (choice < 80) {
            searches.next();
        } else if (choice < 88) {
            reads.graph(values.of(entities));
        } else {
            reads.next();
        }
    }

    private TypeDef type(String name) {
        return oracle.memory.type(name);
    }

    private InstanceProperties properties(String type) {
        return values.properties(oracle.memory, type(type));
    }

    // Creation.

    private void addEntity() {
        if (entities.size() >= ENTITIES_MAX) {
            remove(values.of(entities));
            return;
        }
        String type = values.of(ENTITY_TYPES);
        InstanceProperties properties = properties(type);
        int choice = random.nextInt(10);
        Oracle.Item made;
        if (choice < 6) {
            InstanceStatus status = random.nextInt(5) == 0 ? values.of(STATUSES) : null;
            made = oracle.create("addEntity", type, null, null, side -> side.collection()
                    .addEntity(USER, type(type).getGUID(), properties, null, status));
        } else if (choice < 8) {
            made = oracle.create("addExternalEntity", type, null, null, side -> side.collection()
                    .addExternalEntity(USER, type(type).getGUID(), HOME, "there", properties, null, null));
        } else {
            made = saveCopy(type, properties);
        }
        if (made != null) {
            entities.add(made);
            reads.read(made);
        }
    }

    private Oracle.Item saveCopy(String type, InstanceProperties properties) {
        String guid = new UUID(random.nextLong(), random.nextLong()).toString();
        Oracle.Item made = oracle.item(type, null, null, guid, guid);
        made.home = HOME;
        save(made, properties);
        return made;
    }

    private void save(Oracle.Item item, InstanceProperties properties) {
        int version = 1 + random.nextInt(4);
        oracle.call("saveEntityReferenceCopy", side -> {
            EntityDetail copy = side.server()
                    .helper
                    .getNewEntity(
                            "test", HOME, InstanceProvenanceType.LOCAL_COHORT, "bob", item.type, properties, null);
            copy.setGUID(side.guid(item));
            copy.setMetadataCollectionName("there");
            copy.setVersion(version);
            side.collection().saveEntityReferenceCopy(USER, copy);
            return null;
        });
    }

    private void addRelationship() {
        if (relationships.size() >= RELATIONSHIPS_MAX) {
            relationshipCall(values.of(relationships));
            return;
        }
        String type = values.of(RELATIONSHIP_TYPES);
        RelationshipDef definition = (RelationshipDef) type(type);
        Oracle.Item one = end(definition.getEndDef1());
        Oracle.Item two = end(definition.getEndDef2());
        InstanceProperties properties = properties(type);
        boolean isCopy =
                random.nextInt(4) == 0 && fits(one, definition.getEndDef1()) && fits(two, definition.getEndDef2());
        Oracle.Item made = isCopy
                ? saveRelationshipCopy(type, one, two, properties)
                : oracle.create("addRelationship", type, one, two, side -> side.collection()
                        .addRelationship(USER, definition.getGUID(), properties, side.guid(one), side.guid(two), null));
        if (made != null) {
            relationships.add(made);
            reads.read(made);
        }
    }

    /** The home of a copy has checked it. */
    private boolean fits(Oracle.Item item, RelationshipEndDef end) {
        return !item.isDeleted
                && oracle.memory.helper.isTypeOf(
                        "test", item.type, end.getEntityType().getName());
    }

    /** Nearly always an entity that fits. */
    private Oracle.Item end(RelationshipEndDef end) {
        Oracle.Item any = values.of(entities);
        for (int attempt = 0; attempt < 20; attempt++) {
            any = values.of(entities);
            if (oracle.memory.helper.isTypeOf(
                    "test", any.type, end.getEntityType().getName())) {
                return any;
            }
        }
        return any;
    }

    private Oracle.Item saveRelationshipCopy(
            String type, Oracle.Item one, Oracle.Item two, InstanceProperties properties) {
        String guid = new UUID(random.nextLong(), random.nextLong()).toString();
        Oracle.Item made = oracle.item(type, one, two, guid, guid);
        made.home = HOME;
        oracle.call("saveRelationshipReferenceCopy", side -> {
            Relationship copy = side.server()
                    .helper
                    .getNewRelationship("test", HOME, InstanceProvenanceType.LOCAL_COHORT, "bob", type, properties);
            copy.setGUID(guid);
            copy.setMetadataCollectionName("there");
            copy.setEntityOneProxy(proxy(side, one));
            copy.setEntityTwoProxy(proxy(side, two));
            side.collection().saveRelationshipReferenceCopy(USER, copy);
            return null;
        });
        return made;
    }

    private static EntityProxy proxy(Oracle.Side side, Oracle.Item item) throws Exception {
        return side.server().helper.getNewEntityProxy("test", side.collection().getEntityDetail(USER, side.guid(item)));
    }

    // Entities.

    private void entityCall(Oracle.Item item) {
        TypeDef type = type(item.type);
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> {
                InstanceProperties properties = properties(item.type);
                Object[] done = oracle.call("updateEntityProperties " + item.name, side -> side.collection()
                        .updateEntityProperties(USER, side.guid(item), properties));
                item.canUndo |= done[1] != null;
            }
            case 3 -> {
                InstanceStatus status = values.of(STATUSES);
                Object[] done = oracle.call("updateEntityStatus " + item.name, side -> side.collection()
                        .updateEntityStatus(USER, side.guid(item), status));
                item.canUndo |= done[1] != null;
            }
            case 4 -> {
                if (item.canUndo) {
                    oracle.call("undoEntityUpdate " + item.name, side -> side.collection()
                            .undoEntityUpdate(USER, side.guid(item)));
                    item.canUndo = false;
                }
            }
            case 5, 6, 7 -> classificationCall(item);
            case 8 -> remove(item);
            case 9 -> {
                Object[] done = oracle.call(
                        "restoreEntity " + item.name, side -> side.collection().restoreEntity(USER, side.guid(item)));
                item.isDeleted &= done[1] == null;
                item.canUndo = false;
            }
            case 10 -> {
                String guid = new UUID(random.nextLong(), random.nextLong()).toString();
                if (!item.isDeleted) {
                    Object[] done = new Object[2];
                    oracle.call("reIdentifyEntity", side -> {
                        done[side.index()] = side.collection()
                                .reIdentifyEntity(USER, type.getGUID(), item.type, side.guid(item), guid);
                        return "done";
                    });
                    if (done[0] != null && done[1] != null) {
                        oracle.rename(item, guid);
                        reads.read(item);
                    }
                    item.canUndo = false;
                    renameEnds(item);
                }
            }
            default -> copyCall(item, type);
        }
    }

    private void classificationCall(Oracle.Item item) {
        if (item.isRehomed) {
            return;
        }
        String name = values.of(CLASSIFICATIONS);
        InstanceProperties properties = properties(name);
        switch (random.nextInt(4)) {
            case 0, 1 -> oracle.call("classifyEntity " + item.name, side -> side.collection()
                    .classifyEntity(USER, side.guid(item), name, properties));
            case 2 -> oracle.call("updateEntityClassification " + item.name, side -> side.collection()
                    .updateEntityClassification(USER, side.guid(item), name, properties));
            default -> oracle.call("declassifyEntity " + item.name, side -> side.collection()
                    .declassifyEntity(USER, side.guid(item), name));
        }
        item.isClassified = true;
        item.canUndo = false;
    }

    private void copyCall(Oracle.Item item, TypeDef type) {
        if (item.home == null) {
            return;
        }
        if (!item.isClassified && random.nextBoolean()) {
            Object[] done = oracle.call("reHomeEntity " + item.name, side -> side.collection()
                    .reHomeEntity(
                            USER, side.guid(item), type.getGUID(), item.type, HOME, LocalServer.ID, LocalServer.NAME));
            item.isRehomed |= done[1] != null;
            item.home = done[1] == null ? item.home : null;
        } else if (!item.isClassified && !item.isDeleted) {
            save(item, properties(item.type));
        }
        item.canUndo = false;
    }

    /** Deletes, then purges. */
    private void remove(Oracle.Item item) {
        TypeDef type = type(item.type);
        item.canUndo = false;
        if (item.home != null && random.nextBoolean()) {
            oracle.call("purgeEntityReferenceCopy", side -> {
                side.collection().purgeEntityReferenceCopy(USER, side.guid(item), type.getGUID(), item.type, HOME);
                return null;
            });
            drop(item);
            return;
        }
        if (!item.isDeleted) {
            Object[] done = oracle.call("deleteEntity", side -> side.collection()
                    .deleteEntity(USER, type.getGUID(), item.type, side.guid(item)));
            if (done[1] != null) {
                item.isDeleted = true;
                dropRelationships(item);
            }
            return;
        }
        Object[] done = oracle.call("purgeEntity", side -> {
            side.collection().purgeEntity(USER, type.getGUID(), item.type, side.guid(item));
            return "purged";
        });
        if (done[1] != null) {
            drop(item);
        }
    }

    private void drop(Oracle.Item item) {
        dropRelationships(item);
        entities.remove(item);
        oracle.forget(item);
    }

    /**
     * The in-memory repository counts it as an update of the relationships, and leaves the old identifier in deleted
     * ones and in the second end.
     */
    private void renameEnds(Oracle.Item item) {
        relationships.removeIf(one -> {
            boolean isOf = one.one == item || one.two == item;
            one.canUndo &= !isOf;
            boolean isLeft = isOf && (one.isDeleted || one.one == one.two);
            if (isLeft) {
                oracle.forget(one);
            }
            return isLeft;
        });
    }

    private void dropRelationships(Oracle.Item entity) {
        relationships.removeIf(one -> {
            boolean isOf = one.one == entity || one.two == entity;
            if (isOf) {
                oracle.forget(one);
            }
            return isOf;
        });
    }

    // Relationships.

    private void relationshipCall(Oracle.Item item) {
        TypeDef type = type(item.type);
        switch (random.nextInt(8)) {
            case 0, 1 -> {
                InstanceProperties properties = properties(item.type);
                Object[] done = oracle.call("updateRelationshipProperties " + item.name, side -> side.collection()
                        .updateRelationshipProperties(USER, side.guid(item), properties));
                item.canUndo |= done[1] != null;
            }
            case 2 -> {
                if (item.canUndo) {
                    oracle.call("undoRelationshipUpdate " + item.name, side -> side.collection()
                            .undoRelationshipUpdate(USER, side.guid(item)));
                    item.canUndo = false;
                }
            }
            case 3 -> {
                Object[] done = oracle.call("deleteRelationship", side -> side.collection()
                        .deleteRelationship(USER, type.getGUID(), item.type, side.guid(item)));
                item.isDeleted |= done[1] != null;
                item.canUndo = false;
            }
            case 4 -> {
                Object[] done = oracle.call("restoreRelationship " + item.name, side -> side.collection()
                        .restoreRelationship(USER, side.guid(item)));
                item.isDeleted &= done[1] == null;
                item.canUndo = false;
            }
            case 5 -> {
                String guid = new UUID(random.nextLong(), random.nextLong()).toString();
                Object[] done = new Object[2];
                oracle.call("reIdentifyRelationship " + item.name, side -> {
                    done[side.index()] = side.collection()
                            .reIdentifyRelationship(USER, type.getGUID(), item.type, side.guid(item), guid);
                    return "done";
                });
                if (done[0] != null && done[1] != null) {
                    oracle.rename(item, guid);
                    reads.read(item);
                }
                item.canUndo = false;
            }
            case 6 -> {
                Object[] done = oracle.call("reHomeRelationship " + item.name, side -> side.collection()
                        .reHomeRelationship(
                                USER,
                                side.guid(item),
                                type.getGUID(),
                                item.type,
                                HOME,
                                LocalServer.ID,
                                LocalServer.NAME));
                item.home = done[1] == null ? item.home : null;
                item.canUndo = false;
            }
            default -> {
                Object[] done = oracle.call("purgeRelationship", side -> {
                    side.collection().purgeRelationship(USER, type.getGUID(), item.type, side.guid(item));
                    return "purged";
                });
                if (done[1] != null) {
                    relationships.remove(item);
                    oracle.forget(item);
                }
            }
        }
    }
}
