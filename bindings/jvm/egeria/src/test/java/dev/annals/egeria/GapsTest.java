package dev.annals.egeria;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.HistorySequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.MatchCriteria;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.SequencingOrder;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ArrayPropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Classification;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.ClassificationOrigin;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityProxy;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProvenanceType;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.Relationship;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyComparisonOperator;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.PropertyCondition;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.search.SearchProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDefCategory;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.TypeDef;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityConflictException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityProxyOnlyException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.HomeEntityException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.HomeRelationshipException;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.InvalidParameterException;

/** Details in which Egeria asks for more than a plain store has, and that the in-memory repository does not decide. */
class GapsTest {
    private static final String USER = LocalServer.USER;
    private static final String THERE = "5d1f9b7e-6b0e-4a1e-9d5a-222222222222";

    private static LocalServer server;
    private static OMRSMetadataCollection collection;

    @BeforeAll
    static void open() throws Exception {
        server = LocalServer.annals(Map.of());
        collection = server.collection;
    }

    @AfterAll
    static void close() throws Exception {
        server.close();
    }

    private static InstanceProperties named(String value) {
        return server.helper.addStringPropertyToInstance("test", null, "displayName", value, "named");
    }

    private static String name(EntityDetail entity) {
        return entity.getProperties().getPropertyValue("displayName").valueAsString();
    }

    private static EntityDetail term(String name) throws Exception {
        return collection.addEntity(USER, server.type("GlossaryTerm").getGUID(), named(name), null, null);
    }

    private static EntityDetail copy(String name) throws Exception {
        EntityDetail copy = server.helper.getNewEntity(
                "test", THERE, InstanceProvenanceType.LOCAL_COHORT, "bob", "GlossaryTerm", named(name), null);
        copy.setMetadataCollectionName("another collection");
        return copy;
    }

    // Versions (G2) and undo (G3).

    @Test
    void classifications_have_versions_of_their_own() throws Exception {
        EntityDetail term = term("a");
        EntityDetail classified = collection.classifyEntity(USER, term.getGUID(), "SpineObject", null);
        assertEquals(1, classified.getClassifications().get(0).getVersion());
        assertNull(classified.getClassifications().get(0).getUpdateTime());
        EntityDetail updated = collection.updateEntityProperties(USER, term.getGUID(), named("b"));
        assertTrue(updated.getVersion() > term.getVersion());
        assertEquals(1, updated.getClassifications().get(0).getVersion());
    }

    @Test
    void an_update_that_changes_nothing_is_a_version() throws Exception {
        EntityDetail term = term("a");
        assertEquals(
                2,
                collection
                        .updateEntityProperties(USER, term.getGUID(), named("a"))
                        .getVersion());
    }

    @Test
    void undo_takes_back_the_update_and_leaves_later_classifications() throws Exception {
        String guid = term("a").getGUID();
        collection.updateEntityProperties(USER, guid, named("b"));
        collection.classifyEntity(USER, guid, "SpineObject", null);
        EntityDetail undone = collection.undoEntityUpdate(USER, guid);
        assertEquals("a", name(undone));
        assertEquals("SpineObject", undone.getClassifications().get(0).getName());
        assertEquals(1, undone.getClassifications().get(0).getVersion());
        assertEquals("b", name(collection.undoEntityUpdate(USER, guid)), "undoing again makes the update again");
    }

    @Test
    void an_entity_without_updates_has_nothing_to_undo() throws Exception {
        String guid = term("a").getGUID();
        collection.classifyEntity(USER, guid, "SpineObject", null);
        assertThrows(InvalidParameterException.class, () -> collection.undoEntityUpdate(USER, guid));
    }

    // Searches by headers.

    private static int found(String header, PrimitiveDefCategory category, Object value) throws Exception {
        PrimitivePropertyValue one = new PrimitivePropertyValue();
        one.setPrimitiveDefCategory(category);
        one.setPrimitiveValue(value);
        PropertyCondition condition = new PropertyCondition();
        condition.setProperty(header);
        condition.setOperator(PropertyComparisonOperator.EQ);
        condition.setValue(one);
        PropertyCondition named = new PropertyCondition();
        PrimitivePropertyValue name = new PrimitivePropertyValue();
        name.setPrimitiveDefCategory(PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING);
        name.setPrimitiveValue("searched");
        named.setProperty("displayName");
        named.setOperator(PropertyComparisonOperator.EQ);
        named.setValue(name);
        SearchProperties search = new SearchProperties();
        search.setMatchCriteria(MatchCriteria.ALL);
        search.setConditions(List.of(condition, named));
        List<EntityDetail> found =
                collection.findEntities(USER, null, null, search, 0, null, null, null, null, null, 0);
        return found == null ? 0 : found.size();
    }

    @Test
    void searches_find_headers() throws Exception {
        EntityDetail term = term("searched");
        PrimitiveDefCategory text = PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING;
        PrimitiveDefCategory date = PrimitiveDefCategory.OM_PRIMITIVE_TYPE_DATE;
        assertEquals(1, found("guid", text, term.getGUID()));
        assertEquals(1, found("typeGUID", text, term.getType().getTypeDefGUID()));
        assertEquals(0, found("typeGUID", text, "unknown"));
        assertEquals(1, found("typeName", text, "GlossaryTerm"));
        assertEquals(1, found("createdBy", text, USER));
        assertEquals(1, found("createTime", date, term.getCreateTime().getTime()));
        assertEquals(0, found("createTime", date, term.getCreateTime().getTime() + 1));
        assertEquals(1, found("metadataCollectionId", text, LocalServer.ID));
        assertEquals(0, found("metadataCollectionId", text, THERE));
        assertEquals(1, found("metadataCollectionName", text, LocalServer.NAME));
        assertEquals(1, found("status", text, "ACTIVE"));
        assertEquals(1, found("version", PrimitiveDefCategory.OM_PRIMITIVE_TYPE_LONG, 1L));
        assertEquals(0, found("updatedBy", text, USER));
        assertEquals(0, found("unknown", text, "x"));
        collection.updateEntityProperties(USER, term.getGUID(), named("searched"));
        assertEquals(1, found("updatedBy", text, USER));
        assertEquals(1, found("version", PrimitiveDefCategory.OM_PRIMITIVE_TYPE_LONG, 2L));
    }

    /** Annals finds some headers of classifications, and the connector examines the others. */
    @Test
    void entities_are_found_by_headers_of_their_classifications_page_by_page() throws Exception {
        List<String> own = new ArrayList<>();
        for (String name : List.of("a", "b", "c")) {
            own.add(collection
                    .classifyEntity(USER, term(name).getGUID(), "ObjectIdentifier", null)
                    .getGUID());
        }
        EntityDetail copy = copy("d");
        Classification theirs = new Classification();
        theirs.setName("ObjectIdentifier");
        theirs.setVersion(1);
        theirs.setMetadataCollectionId(THERE);
        theirs.setMetadataCollectionName("another collection");
        copy.setClassifications(List.of(theirs));
        collection.saveEntityReferenceCopy(USER, copy);
        own.sort(null);
        List<String> all = new ArrayList<>(own);
        all.add(copy.getGUID());
        all.sort(null);
        assertEquals(own, classified("metadataCollectionId", LocalServer.ID));
        assertEquals(List.of(copy.getGUID()), classified("metadataCollectionId", THERE));
        assertEquals(own, classified("metadataCollectionName", LocalServer.NAME));
        assertEquals(List.of(copy.getGUID()), classified("metadataCollectionName", "another collection"));
        assertEquals(all, classified("typeName", "ObjectIdentifier"));
        assertEquals(List.of(), classified("typeName", "else"));
    }

    private static List<String> classified(String header, String value) throws Exception {
        String exact = server.helper.getExactMatchRegex(value);
        InstanceProperties match = server.helper.addStringPropertyToInstance("test", null, header, exact, "match");
        List<String> found = new ArrayList<>();
        while (true) {
            List<EntityDetail> page = collection.findEntitiesByClassification(
                    USER,
                    null,
                    "ObjectIdentifier",
                    match,
                    MatchCriteria.ALL,
                    found.size(),
                    null,
                    null,
                    null,
                    SequencingOrder.GUID,
                    2);
            if (page == null) {
                return found;
            }
            page.forEach(one -> found.add(one.getGUID()));
        }
    }

    @Test
    void a_list_of_no_values_finds_nothing() throws Exception {
        term("searched for nothing");
        PropertyCondition condition = new PropertyCondition();
        condition.setProperty("displayName");
        condition.setOperator(PropertyComparisonOperator.IN);
        condition.setValue(new ArrayPropertyValue());
        SearchProperties search = new SearchProperties();
        search.setMatchCriteria(MatchCriteria.ALL);
        search.setConditions(List.of(condition));
        assertNull(collection.findEntities(USER, null, null, search, 0, null, null, null, null, null, 0));
    }

    @Test
    void pages_and_orders_are_those_of_the_whole() throws Exception {
        for (String name : List.of("page c", "page a", "page b")) {
            term(name);
        }
        InstanceProperties match = named(server.helper.getStartsWithRegex("page "));
        List<String> found = new ArrayList<>();
        for (int from = 0; from < 4; from++) {
            List<EntityDetail> page = collection.findEntitiesByProperty(
                    USER,
                    server.type("GlossaryTerm").getGUID(),
                    match,
                    MatchCriteria.ALL,
                    from,
                    null,
                    null,
                    null,
                    "displayName",
                    SequencingOrder.PROPERTY_DESCENDING,
                    1);
            found.add(page == null ? "none" : name(page.get(0)));
        }
        assertEquals(List.of("page c", "page b", "page a", "none"), found);
    }

    // The past (G4).

    @Test
    void the_millisecond_of_a_creation_shows_the_entity() throws Exception {
        EntityDetail term = term("a");
        collection.updateEntityProperties(USER, term.getGUID(), named("b"));
        assertNotNull(collection.getEntityDetail(USER, term.getGUID(), term.getCreateTime()));
    }

    @Test
    void a_history_begins_with_the_version_in_force_then() throws Exception {
        EntityDetail term = term("a");
        Thread.sleep(5);
        Date between = new Date();
        Thread.sleep(5);
        EntityDetail updated = collection.updateEntityProperties(USER, term.getGUID(), named("b"));
        List<EntityDetail> found = collection.getEntityDetailHistory(
                USER, term.getGUID(), between, null, 0, 0, HistorySequencingOrder.FORWARDS);
        assertEquals(List.of("a", "b"), found.stream().map(GapsTest::name).toList());
        assertEquals(
                List.of("b"),
                collection
                        .getEntityDetailHistory(
                                USER,
                                term.getGUID(),
                                updated.getUpdateTime(),
                                null,
                                0,
                                1,
                                HistorySequencingOrder.BACKWARDS)
                        .stream()
                        .map(GapsTest::name)
                        .toList());
    }

    // Origins of classifications (G5).

    private static void keepsOrigin(ClassificationOrigin origin, String guid) throws Exception {
        String entity = term("a").getGUID();
        collection.classifyEntity(USER, entity, "SpineObject", null, null, origin, guid, null);
        Classification found =
                collection.getEntityDetail(USER, entity).getClassifications().get(0);
        assertEquals(origin, found.getClassificationOrigin());
        assertEquals(guid, found.getClassificationOriginGUID());
        assertNull(found.getMappingProperties());
    }

    @Test
    void classifications_keep_their_origin() throws Exception {
        keepsOrigin(ClassificationOrigin.PROPAGATED, "origin");
        keepsOrigin(ClassificationOrigin.PROPAGATED, null);
        keepsOrigin(ClassificationOrigin.ASSIGNED, "origin");
        keepsOrigin(ClassificationOrigin.ASSIGNED, null);
    }

    @Test
    void classifications_of_external_sources_keep_their_home() throws Exception {
        String guid = term("a").getGUID();
        collection.classifyEntity(
                USER, guid, "SpineObject", THERE, "a tool", ClassificationOrigin.ASSIGNED, null, null);
        Classification found =
                collection.getEntityDetail(USER, guid).getClassifications().get(0);
        assertEquals(THERE, found.getMetadataCollectionId());
        assertEquals("a tool", found.getMetadataCollectionName());
        assertEquals(LocalServer.ID, found.getReplicatedBy());
        assertEquals(InstanceProvenanceType.EXTERNAL_SOURCE, found.getInstanceProvenanceType());
    }

    // Times for which instances count (G6).

    private static InstanceProperties until(String name, long time) {
        InstanceProperties properties = named(name);
        properties.setEffectiveToTime(new Date(time));
        return properties;
    }

    @Test
    void an_update_changes_the_time_for_which_an_entity_counts() throws Exception {
        String guid = term("a").getGUID();
        EntityDetail updated = collection.updateEntityProperties(USER, guid, until("b", 5_000));
        assertEquals(new Date(5_000), updated.getProperties().getEffectiveToTime());
        assertEquals(2, updated.getVersion());
        EntityDetail undone = collection.undoEntityUpdate(USER, guid);
        assertNull(undone.getProperties().getEffectiveToTime());
        assertEquals("a", name(undone));
        assertEquals(3, undone.getVersion());
        collection.updateEntityProperties(USER, guid, until("b", 6_000));
        EntityDetail without = collection.updateEntityProperties(USER, guid, named("c"));
        assertNull(without.getProperties().getEffectiveToTime());
        assertEquals("c", name(without));
    }

    @Test
    void an_update_changes_the_time_for_which_a_classification_counts() throws Exception {
        String guid = term("a").getGUID();
        InstanceProperties first =
                server.helper.addStringPropertyToInstance("test", null, "notes", "a", "classification");
        collection.classifyEntity(USER, guid, "Confidence", first);
        InstanceProperties second = new InstanceProperties(first);
        second.setEffectiveFromTime(new Date(7_000));
        EntityDetail updated = collection.updateEntityClassification(USER, guid, "Confidence", second);
        assertEquals(
                new Date(7_000),
                updated.getClassifications().get(0).getProperties().getEffectiveFromTime());
        assertEquals(2, updated.getClassifications().get(0).getVersion());
        assertEquals(1, updated.getVersion());
    }

    // Proxies (G7).

    @Test
    void proxies_have_their_type_their_home_and_their_unique_properties() throws Exception {
        EntityDetail there = copy("a");
        there.setProperties(server.helper.addStringPropertyToInstance(
                "test", there.getProperties(), "qualifiedName", "unique", "proxy"));
        collection.addEntityProxy(USER, server.helper.getNewEntityProxy("test", there));
        EntityProxy found = (EntityProxy) collection.getEntitySummary(USER, there.getGUID());
        assertEquals("GlossaryTerm", found.getType().getTypeDefName());
        assertEquals(THERE, found.getMetadataCollectionId());
        assertEquals(
                "unique",
                found.getUniqueProperties().getPropertyValue("qualifiedName").valueAsString());
        assertThrows(EntityProxyOnlyException.class, () -> collection.getEntityDetail(USER, there.getGUID()));
        assertNull(collection.isEntityKnown(USER, there.getGUID()));
    }

    @Test
    void proxies_keep_their_headers_and_their_classifications() throws Exception {
        EntityDetail there = copy("a");
        there.setVersion(7);
        there.setUpdatedBy("zoe");
        there.setUpdateTime(new Date(there.getCreateTime().getTime() + 1_000));
        there.setInstanceLicense("CC0");
        there.setMaintainedBy(List.of("bob", "zoe"));
        Classification theirs = new Classification();
        theirs.setName("SpineObject");
        theirs.setVersion(3);
        theirs.setCreatedBy("bob");
        theirs.setCreateTime(there.getCreateTime());
        there.setClassifications(List.of(theirs));
        EntityProxy proxy = server.helper.getNewEntityProxy("test", there);
        collection.addEntityProxy(USER, proxy);
        EntityProxy found = (EntityProxy) collection.getEntitySummary(USER, there.getGUID());
        assertEquals(7, found.getVersion());
        assertEquals("bob", found.getCreatedBy());
        assertEquals(there.getCreateTime(), found.getCreateTime());
        assertEquals("zoe", found.getUpdatedBy());
        assertEquals(there.getUpdateTime(), found.getUpdateTime());
        assertEquals("CC0", found.getInstanceLicense());
        assertEquals(List.of("bob", "zoe"), found.getMaintainedBy());
        assertEquals("another collection", found.getMetadataCollectionName());
        Classification kept = found.getClassifications().get(0);
        assertEquals("SpineObject", kept.getName());
        assertEquals(3, kept.getVersion());
        assertEquals(THERE, kept.getMetadataCollectionId());
    }

    @Test
    void proxies_are_classified_here() throws Exception {
        EntityProxy proxy = server.helper.getNewEntityProxy("test", copy("a"));
        Classification made = collection.classifyEntity(USER, proxy, "SpineObject", null);
        assertEquals(LocalServer.ID, made.getMetadataCollectionId());
        EntityProxy found = (EntityProxy) collection.getEntitySummary(USER, proxy.getGUID());
        assertEquals("SpineObject", found.getClassifications().get(0).getName());
        collection.declassifyEntity(USER, proxy, "SpineObject");
        assertNull(collection.getEntitySummary(USER, proxy.getGUID()).getClassifications());
    }

    @Test
    void copies_of_relationships_bring_proxies_of_their_ends() throws Exception {
        EntityDetail own = term("a");
        EntityDetail there = copy("b");
        Relationship synonym = server.helper.getNewRelationship(
                "test", THERE, InstanceProvenanceType.LOCAL_COHORT, "bob", "Synonym", null);
        synonym.setEntityOneProxy(server.helper.getNewEntityProxy("test", own));
        synonym.setEntityTwoProxy(server.helper.getNewEntityProxy("test", there));
        collection.saveRelationshipReferenceCopy(USER, synonym);
        List<Relationship> found =
                collection.getRelationshipsForEntity(USER, there.getGUID(), null, 0, null, null, null, null, 0);
        assertEquals(there.getGUID(), found.get(0).getEntityTwoProxy().getGUID());
        assertEquals(THERE, found.get(0).getEntityTwoProxy().getMetadataCollectionId());
    }

    // Copies (G9, G12).

    @Test
    void a_deleted_copy_goes_and_comes_back() throws Exception {
        EntityDetail copy = copy("a");
        collection.saveEntityReferenceCopy(USER, copy);
        EntityDetail deleted = new EntityDetail(copy);
        deleted.setStatusOnDelete(InstanceStatus.ACTIVE);
        deleted.setStatus(InstanceStatus.DELETED);
        deleted.setVersion(2);
        collection.deleteEntityReferenceCopy(USER, deleted);
        assertNull(collection.isEntityKnown(USER, copy.getGUID()));
        copy.setVersion(3);
        collection.saveEntityReferenceCopy(USER, copy);
        assertEquals(3, collection.getEntityDetail(USER, copy.getGUID()).getVersion());
    }

    @Test
    void copies_keep_the_name_of_their_home_and_large_versions() throws Exception {
        EntityDetail copy = copy("a");
        copy.setVersion(1_800_000_000_000L);
        collection.saveEntityReferenceCopy(USER, copy);
        EntityDetail found = collection.getEntityDetail(USER, copy.getGUID());
        assertEquals("another collection", found.getMetadataCollectionName());
        assertEquals(1_800_000_000_000L, found.getVersion());
        assertEquals("bob", found.getCreatedBy());
        assertEquals(copy.getCreateTime(), found.getCreateTime());
    }

    @Test
    void the_purge_of_a_copy_that_is_not_there_does_nothing() throws Exception {
        String guid = UUID.randomUUID().toString();
        TypeDef term = server.type("GlossaryTerm");
        TypeDef relationship = server.type("TermAnchor");
        collection.purgeEntityReferenceCopy(USER, guid, term.getGUID(), term.getName(), THERE);
        collection.purgeRelationshipReferenceCopy(USER, guid, relationship.getGUID(), relationship.getName(), THERE);
        EntityDetail copy = copy("a");
        collection.saveEntityReferenceCopy(USER, copy);
        collection.purgeEntityReferenceCopy(USER, copy.getGUID(), term.getGUID(), term.getName(), THERE);
        assertNull(collection.isEntityKnown(USER, copy.getGUID()));
        collection.purgeEntityReferenceCopy(USER, copy.getGUID(), term.getGUID(), term.getName(), THERE);
    }

    /** Egeria's conformance suite cleans up so after a re-homing. */
    @Test
    void an_own_relationship_is_purged_as_a_copy_only_if_it_is_deleted() throws Exception {
        TypeDef type = server.type("RelatedTerm");
        String own = term("a").getMetadataCollectionId();
        String guid = collection
                .addRelationship(
                        USER, type.getGUID(), null, term("a").getGUID(), term("b").getGUID(), null)
                .getGUID();
        assertThrows(
                HomeRelationshipException.class,
                () -> collection.purgeRelationshipReferenceCopy(USER, guid, type.getGUID(), type.getName(), own));
        collection.deleteRelationship(USER, type.getGUID(), type.getName(), guid);
        collection.purgeRelationshipReferenceCopy(USER, guid, type.getGUID(), type.getName(), own);
        assertNull(collection.isRelationshipKnown(USER, guid));
        String entity = term("c").getGUID();
        TypeDef term = server.type("GlossaryTerm");
        assertThrows(
                HomeEntityException.class,
                () -> collection.purgeEntityReferenceCopy(USER, entity, term.getGUID(), term.getName(), own));
    }

    @Test
    void an_own_entity_is_no_copy() throws Exception {
        EntityDetail own = term("a");
        EntityDetail copy = new EntityDetail(own);
        copy.setMetadataCollectionId(THERE);
        assertThrows(EntityConflictException.class, () -> collection.saveEntityReferenceCopy(USER, copy));
    }

    // Restart.

    @Test
    void a_restart_finds_everything(@TempDir Path folder) throws Exception {
        Map<String, Object> settings =
                Map.of("folder", folder.resolve("repository").toString());
        String guid;
        try (LocalServer first = LocalServer.annals(settings)) {
            guid = first.collection
                    .addEntity(USER, first.type("GlossaryTerm").getGUID(), named("kept"), null, null)
                    .getGUID();
        }
        try (LocalServer second = LocalServer.annals(settings)) {
            assertEquals("kept", name(second.collection.getEntityDetail(USER, guid)));
        }
    }

    /** As Egeria's conformance suite counts them, and its graph repository gives them. */
    @Test
    void related_entities_begin_with_the_start() throws Exception {
        EntityDetail start = term("m");
        EntityDetail low = term("a");
        EntityDetail high = term("z");
        for (EntityDetail other : List.of(low, high)) {
            collection.addRelationship(
                    USER, server.type("RelatedTerm").getGUID(), null, start.getGUID(), other.getGUID(), null);
        }
        assertEquals(List.of("m", "a", "z"), related(start, null, 0, null, 0));
        assertEquals(List.of("m", "a"), related(start, null, 0, null, 2));
        assertEquals(List.of("z"), related(start, null, 2, null, 2));
        assertEquals(List.of("a", "m", "z"), related(start, null, 0, SequencingOrder.PROPERTY_ASCENDING, 0));
        assertEquals(List.of("z", "m", "a"), related(start, null, 0, SequencingOrder.PROPERTY_DESCENDING, 3));
        assertEquals(List.of("m"), related(start, null, 1, SequencingOrder.PROPERTY_DESCENDING, 1));
        assertEquals(List.of("a"), related(start, null, 2, SequencingOrder.PROPERTY_DESCENDING, 1));
        assertEquals(List.of(), related(start, null, 3, SequencingOrder.PROPERTY_DESCENDING, 1));
        // The start is there whatever the types, the statuses and the classifications.
        assertEquals(List.of("m"), related(start, server.type("Asset").getGUID(), 0, null, 0));
        assertEquals(List.of("x"), related(term("x"), null, 0, null, 0));
        assertThrows(EntityNotKnownException.class, () -> collection.getRelatedEntities(
                USER, UUID.randomUUID().toString(), null, 0, null, null, null, null, null, 0));
    }

    private static List<String> related(EntityDetail start, String type, int from, SequencingOrder order, int size)
            throws Exception {
        List<String> types = type == null ? null : List.of(type);
        String property = order == null ? null : "displayName";
        List<EntityDetail> found = collection.getRelatedEntities(
                USER, start.getGUID(), types, from, null, null, null, property, order, size);
        return found == null ? List.of() : found.stream().map(GapsTest::name).toList();
    }
}
