package dev.annals.egeria;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.annals.Annals;
import dev.annals.InstanceId;
import dev.annals.NewEntity;
import dev.annals.NewRelationship;
import dev.annals.Patch;
import dev.annals.Repository;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceProperties;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.PrimitivePropertyValue;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.typedefs.PrimitiveDefCategory;

/** Two servers of Egeria exchange their metadata; both keep it in Annals. */
@Timeout(120)
class CohortTest {
    private static final String GLOSSARY_TERM = "0db3e6ec-f5ef-4d75-ae38-b7ee6fd6ec0a";

    @TempDir
    Path folder;

    @Test
    void what_one_member_writes_the_other_one_gets_as_a_copy() throws Exception {
        Map<String, Object> settings = Map.of("folder", folder.resolve("one").toString());
        try (CohortServer one = new CohortServer("one", "11111111-1111-4111-8111-111111111111", settings, folder);
                CohortServer two = new CohortServer("two", "22222222-2222-4222-8222-222222222222", Map.of(), folder)) {
            EntityDetail term = one.add(GLOSSARY_TERM, named("a"));
            EntityDetail copy = await(two, term.getGUID(), found -> found != null);
            assertEquals(one.id, copy.getMetadataCollectionId());
            assertEquals("one collection", copy.getMetadataCollectionName());
            assertEquals(term.getVersion(), copy.getVersion());
            assertEquals(term.getCreateTime(), copy.getCreateTime());
            assertThrows(IllegalStateException.class, () -> two.update(term.getGUID(), named("b")));

            EntityDetail updated = one.update(term.getGUID(), named("b"));
            copy = await(two, term.getGUID(), found -> found.getVersion() == updated.getVersion());
            assertEquals(
                    "b", copy.getProperties().getPropertyValue("displayName").valueAsString());

            two.classify(term.getGUID(), "SpineObject");
            EntityDetail classified = await(one, term.getGUID(), found -> found.getClassifications() != null);
            assertEquals(two.id, classified.getClassifications().get(0).getMetadataCollectionId());
            EntityDetail again = one.update(term.getGUID(), named("c"));
            copy = await(two, term.getGUID(), found -> found.getVersion() == again.getVersion());
            assertEquals(1, copy.getClassifications().size());

            one.delete(again);
            await(two, term.getGUID(), found -> found == null);
        }
    }

    @Test
    void what_another_client_writes_reaches_the_cohort_also_after_a_restart() throws Exception {
        String id = "11111111-1111-4111-8111-111111111111";
        Map<String, Object> state = Map.of("state", folder.resolve("position").toString());
        try (ServedRepository served = new ServedRepository(folder.resolve("served"));
                Repository client = Annals.connect(URI.create(served.address()));
                CohortServer two = new CohortServer("two", "22222222-2222-4222-8222-222222222222", Map.of(), folder)) {
            Map<String, Object> settings = Map.of("address", served.address());
            try (CohortServer one = new CohortServer("one", id, settings, state, folder)) {
                EntityDetail term = one.add(GLOSSARY_TERM, named("a"));
                await(two, term.getGUID(), found -> found != null);
                client.transact(
                        t -> t.create(NewEntity.of("GlossaryTerm").id("other").set("displayName", "b")));
                EntityDetail copy = await(two, "other", found -> found != null);
                assertEquals(id, copy.getMetadataCollectionId());
                client.transact(t -> t.update(Patch.of("other").set("displayName", "c")));
                await(two, "other", found -> found.getVersion() == 2);
                client.transact(t -> t.classify("other", "SpineObject", Map.of()));
                await(two, "other", found -> found.getClassifications() != null);
                client.transact(t -> t.create(
                        NewRelationship.of("Synonym", "other", term.getGUID()).id("link")));
            }
            client.transact(t -> {
                t.create(NewEntity.of("GlossaryTerm").id("meanwhile").set("displayName", "d"));
                t.delete(InstanceId.entity("other"));
            });
            try (CohortServer again = new CohortServer("one", id, settings, state, folder)) {
                await(two, "meanwhile", found -> found != null);
                await(two, "other", found -> found == null);
                assertTrue(again.known("meanwhile") != null);
            }
        }
    }

    @Test
    void events_begin_once_a_repository_opens_that_was_locked_at_the_start() throws Exception {
        Path locked = folder.resolve("locked");
        Repository other = Annals.open(locked);
        try (CohortServer two = new CohortServer("two", "22222222-2222-4222-8222-222222222222", Map.of(), folder);
                CohortServer one = new CohortServer(
                        "one",
                        "11111111-1111-4111-8111-111111111111",
                        Map.of("folder", locked.toString()),
                        Map.of(),
                        folder)) {
            other.close();
            boolean isTold = false;
            // The first ones may be written before the event mapper has opened the repository.
            for (int attempt = 0; attempt < 30 && !isTold; attempt++) {
                String guid = one.add(GLOSSARY_TERM, named("a")).getGUID();
                Thread.sleep(1_000);
                isTold = two.known(guid) != null;
            }
            assertTrue(isTold);
        }
    }

    private static InstanceProperties named(String value) {
        PrimitivePropertyValue text = new PrimitivePropertyValue();
        text.setPrimitiveDefCategory(PrimitiveDefCategory.OM_PRIMITIVE_TYPE_STRING);
        text.setPrimitiveValue(value);
        InstanceProperties properties = new InstanceProperties();
        properties.setProperty("displayName", text);
        return properties;
    }

    private static EntityDetail await(CohortServer server, String guid, Predicate<EntityDetail> condition)
            throws InterruptedException {
        for (int attempt = 0; attempt < 300; attempt++) {
            EntityDetail found = server.known(guid);
            if (condition.test(found)) {
                return found;
            }
            Thread.sleep(100);
        }
        throw new AssertionError("expected the event at " + server.name + " within 30 s, found " + server.known(guid));
    }
}
