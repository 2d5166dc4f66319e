package dev.annals.egeria;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.annals.Annals;
import dev.annals.Repository;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.EntityDetail;
import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceStatus;
import org.odpi.openmetadata.repositoryservices.ffdc.exception.RepositoryErrorException;

/** Starts of a server that fail. A platform of Egeria logs the failure, and says that the server runs. */
@Timeout(120)
class StartTest {
    @TempDir
    Path folder;

    @Test
    void calls_name_the_failure_of_the_start_until_the_repository_opens() throws Exception {
        Map<String, Object> settings = Map.of("folder", folder.toString());
        Repository other = Annals.open(folder);
        try (LocalServer server = LocalServer.annalsInPlatform(settings)) {
            RepositoryErrorException refused = assertThrows(RepositoryErrorException.class, () -> add(server));
            assertTrue(refused.getMessage().contains("ANNALS-LOCKED"), refused.getMessage());
            other.close();
            EntityDetail term = add(server);
            assertEquals(term, server.collection.isEntityKnown(LocalServer.USER, term.getGUID()));
        }
    }

    @Test
    void a_misspelt_setting_is_no_repository_in_memory() {
        ConnectorCheckedException refused = assertThrows(
                ConnectorCheckedException.class, () -> LocalServer.annals(Map.of("foldr", folder.toString())));
        assertTrue(refused.getMessage().contains("foldr"), refused.getMessage());
    }

    private static EntityDetail add(LocalServer server) throws Exception {
        return server.collection.addEntity(
                LocalServer.USER, server.type("GlossaryTerm").getGUID(), null, List.of(), InstanceStatus.ACTIVE);
    }
}
