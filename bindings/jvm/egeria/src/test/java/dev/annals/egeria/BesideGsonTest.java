package dev.annals.egeria;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.JsonArray;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;

/** The jar of the connector on a class path with gson 2.8.6, which servers of Egeria 3.5 have. */
@Timeout(120)
@EnabledIfSystemProperty(named = "gson.of.egeria", matches = "true")
class BesideGsonTest {
    @TempDir
    Path folder;

    @Test
    void the_connector_works() throws Exception {
        // The older gson is there: it has no such method.
        assertThrows(NoSuchMethodException.class, () -> JsonArray.class.getMethod("isEmpty"));
        try (LocalServer server = LocalServer.annals(Map.of("folder", folder.toString()))) {
            EntityDetail term = server.collection.addEntity(
                    LocalServer.USER, server.type("GlossaryTerm").getGUID(), null, List.of(), InstanceStatus.ACTIVE);
            assertEquals(term, server.collection.isEntityKnown(LocalServer.USER, term.getGUID()));
        }
    }
}
