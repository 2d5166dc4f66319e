package dev.annals.egeria;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.annals.Annals;
import dev.annals.Repository;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.odpi.openmetadata.frameworks.connectors.Connector;
import org.odpi.openmetadata.frameworks.connectors.ffdc.ConnectorCheckedException;
import org.odpi.openmetadata.frameworks.connectors.properties.beans.Connection;
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

    @Test
    void a_misspelt_setting_is_refused_with_the_names_of_all() {
        ConnectorCheckedException refused = assertThrows(
                ConnectorCheckedException.class,
                () -> LocalServer.annals(Map.of("address", "http://127.0.0.1:1", "tokenfile", "x")));
        assertTrue(
                refused.getMessage().contains("expected address, folder, tokenFile, caFile; found tokenfile"),
                refused.getMessage());
    }

    /** A server of Egeria starts although its connector does not start, but not if there is no connector. */
    @Test
    void settings_that_do_not_fit_make_no_connector() {
        for (Map<String, Object> wrong : List.<Map<String, Object>>of(
                Map.of("foldr", "x"),
                Map.of("address", "http://127.0.0.1:1", "folder", "x"),
                Map.of("address", "not an address"),
                Map.of("folder", "x", "caFile", "x"),
                Map.of("address", "http://annals.example", "tokenFile", "x"))) {
            ConnectorCheckedException refused =
                    assertThrows(ConnectorCheckedException.class, () -> connector(wrong, null));
            assertTrue(refused.getMessage().contains("connection of Annals: "), refused.getMessage());
        }
        assertThrows(ConnectorCheckedException.class, () -> connector(Map.of("folder", "x"), "token"));
        assertThrows(
                ConnectorCheckedException.class,
                () -> connector(Map.of("address", "http://127.0.0.1:1", "tokenFile", "x"), "token"));
        Connection mapper = new Connection();
        mapper.setConfigurationProperties(Map.of("stat", "x"));
        assertThrows(ConnectorCheckedException.class, () -> new AnnalsEventMapperProvider().getConnector(mapper));
    }

    private static Connector connector(Map<String, Object> settings, String password) throws Exception {
        Connection connection = new Connection();
        connection.setConfigurationProperties(settings);
        connection.setClearPassword(password);
        return new AnnalsRepositoryConnectorProvider().getConnector(connection);
    }

    @Test
    void a_token_goes_to_its_server_and_never_over_an_open_network() throws Exception {
        Path tokens = folder.resolve("tokens");
        Process made = new ProcessBuilder(
                        System.getProperty("ANNALS_PROGRAM"), "token", "new", "erin", "--role", "admin", "--tokens", tokens.toString())
                .start();
        String said = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, made.waitFor());
        Path token = folder.resolve("token");
        Files.writeString(token, said.lines().filter(line -> line.startsWith("annals_")).findFirst().orElseThrow());
        try (ServedRepository served = new ServedRepository(folder.resolve("served"), "--tokens", tokens.toString())) {
            Map<String, Object> without = Map.of("address", served.address());
            try (LocalServer server = LocalServer.annalsInPlatform(without)) {
                RepositoryErrorException refused = assertThrows(RepositoryErrorException.class, () -> add(server));
                assertTrue(refused.getMessage().contains("ANNALS-UNAUTHENTICATED"), refused.getMessage());
            }
            AnnalsRepositoryConnector known =
                    (AnnalsRepositoryConnector) connector(without, Files.readString(token).strip());
            known.start();
            known.store().name(LocalServer.ID);
            known.disconnect();
            Map<String, Object> with = Map.of("address", served.address(), "tokenFile", token.toString());
            try (LocalServer server = LocalServer.annals(with)) {
                EntityDetail term = add(server);
                assertEquals(term, server.collection.isEntityKnown(LocalServer.USER, term.getGUID()));
            }
        }
        for (Map<String, Object> wrong : List.<Map<String, Object>>of(
                Map.of("address", "http://annals.example", "tokenFile", token.toString()),
                Map.of("folder", folder.resolve("other").toString(), "tokenFile", token.toString()),
                Map.of("address", "http://127.0.0.1:1", "tokenFile", folder.resolve("missing").toString()))) {
            ConnectorCheckedException refused =
                    assertThrows(ConnectorCheckedException.class, () -> LocalServer.annals(wrong));
            assertTrue(refused.getMessage().contains("tokenFile"), refused.getMessage());
        }
    }

    private static EntityDetail add(LocalServer server) throws Exception {
        return server.collection.addEntity(
                LocalServer.USER, server.type("GlossaryTerm").getGUID(), null, List.of(), InstanceStatus.ACTIVE);
    }
}
