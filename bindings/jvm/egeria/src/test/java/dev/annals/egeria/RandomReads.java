package dev.annals.egeria;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceGraph;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;

/** Reads of instances and of what surrounds them. */
final class RandomReads {
    private static final String USER = LocalServer.USER;

    private final Oracle oracle;
    private final Random random;
    private final RandomValues values;
    private final List<String> types;
    private final List<Oracle.Item> entities;
    private final List<Oracle.Item> relationships;

    RandomReads(
            Oracle oracle,
            Random random,
            RandomValues values,
            List<String> relationshipTypes,
            List<Oracle.Item> entities,
            List<Oracle.Item> relationships) {
        this.oracle = oracle;
        this.random = random;
        this.values = values;
        this.types = relationshipTypes;
        this.entities = entities;
        this.relationships = relationships;
    }

    void read(Oracle.Item item) {
        if (item.one == null) {
            oracle.call(
                    "getEntityDetail " + item.name, side -> side.collection().getEntityDetail(USER, side.guid(item)));
        } else {
            oracle.call(
                    "getRelationship " + item.name, side -> side.collection().getRelationship(USER, side.guid(item)));
        }
    }

    void next() {
        boolean isEntity = relationships.isEmpty() || random.nextBoolean();
        Oracle.Item item = isEntity ? values.of(entities) : values.of(relationships);
        switch (random.nextInt(4)) {
            case 0 -> {
                if (isEntity) {
                    oracle.call("isEntityKnown " + item.name, side -> side.collection()
                            .isEntityKnown(USER, side.guid(item)));
                } else {
                    oracle.call("isRelationshipKnown " + item.name, side -> side.collection()
                            .isRelationshipKnown(USER, side.guid(item)));
                }
            }
            case 1 -> {
                if (isEntity) {
                    oracle.call("getHomeClassifications " + item.name, side -> side.collection()
                            .getHomeClassifications(USER, side.guid(item)));
                }
            }
            case 2 -> {
                if (isEntity) {
                    oracle.call("getEntitySummary " + item.name, side -> side.collection()
                            .getEntitySummary(USER, side.guid(item))
                            .getGUID()
                            .equals(side.guid(item)));
                }
            }
            default -> read(item);
        }
    }

    void graph(Oracle.Item item) {
        if (random.nextBoolean()) {
            String type = random.nextBoolean()
                    ? null
                    : oracle.memory.type(values.of(types)).getGUID();
            oracle.call("getRelationshipsForEntity " + item.name, side -> side.collection()
                    .getRelationshipsForEntity(USER, side.guid(item), type, 0, null, null, null, null, 0));
        } else if (!item.isDeleted) {
            int level = random.nextInt(3);
            List<String> wanted = random.nextBoolean()
                    ? null
                    : List.of(oracle.memory.type(values.of(types)).getGUID());
            Object[] found = oracle.call(
                    "getEntityNeighborhood " + item.name + " level " + level + " types " + wanted,
                    side -> side.collection()
                            .getEntityNeighborhood(USER, side.guid(item), null, wanted, null, null, null, level));
            if (found[1] instanceof InstanceGraph graph) {
                checkEnds(graph, item.guids[1]);
            }
        }
    }

    /** The entities are the start and the ends of the relationships, each once. */
    private static void checkEnds(InstanceGraph graph, String start) {
        Set<String> ends = new TreeSet<>(Set.of(start));
        if (graph.getRelationships() != null) {
            for (Relationship one : graph.getRelationships()) {
                ends.add(one.getEntityOneProxy().getGUID());
                ends.add(one.getEntityTwoProxy().getGUID());
            }
        }
        List<String> entities = graph.getEntities().stream()
                .map(InstanceHeader::getGUID)
                .sorted()
                .toList();
        assertEquals(List.copyOf(ends), entities, "the entities of a neighbourhood");
    }
}
