package dev.annals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server with an authority of its own, which knows its clients by their certificates. */
class TlsTest {
    private static void keytool(Path folder, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("-storepass", "changeit"));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), said);
    }

    /** A certificate that signs itself, and its key, as files in PEM. */
    private static void make(Path folder, String name, String names, String kind) throws Exception {
        String store = name + ".p12";
        keytool(
                folder, "-genkeypair", "-alias", name, "-keyalg", kind, "-dname", "CN=" + name, "-ext", "SAN=" + names,
                "-ext", "BC=ca:true", "-validity", "2", "-keystore", store, "-storetype", "PKCS12");
        keytool(folder, "-exportcert", "-rfc", "-alias", name, "-file", name + ".crt", "-keystore", store);
        java.security.KeyStore keys = java.security.KeyStore.getInstance(
                folder.resolve(store).toFile(), "changeit".toCharArray());
        String key = Base64.getMimeEncoder(64, new byte[] {'\n'})
                .encodeToString(keys.getKey(name, "changeit".toCharArray()).getEncoded());
        Files.writeString(
                folder.resolve(name + ".key"),
                "-----BEGIN PRIVATE KEY-----\n" + key + "\n-----END PRIVATE KEY-----\n");
    }

    @Test
    void aClientTrustsTheAuthorityThatItNamesAndSaysItsName(@TempDir Path folder) throws Exception {
        // rustls takes no key of EC as keytool writes it.
        make(folder, "server", "dns:localhost,ip:127.0.0.1", "RSA");
        make(folder, "authority", "dns:authority", "EC");
        make(folder, "ada", "dns:ada", "EC");
        keytool(folder, "-certreq", "-alias", "ada", "-file", "ada.csr", "-keystore", "ada.p12");
        keytool(
                folder, "-gencert", "-rfc", "-alias", "authority", "-infile", "ada.csr", "-outfile", "ada.crt", "-ext",
                "SAN=dns:ada", "-validity", "2", "-keystore", "authority.p12");
        String[] options = {
            "--tls-cert", folder.resolve("server.crt").toString(),
            "--tls-key", folder.resolve("server.key").toString(),
            "--tls-client-ca", folder.resolve("authority.crt").toString()
        };
        ConnectOptions trusting = ConnectOptions.defaults().authorities(folder.resolve("server.crt"));
        ConnectOptions known = trusting.certificate(folder.resolve("ada.crt"), folder.resolve("ada.key"));
        try (ServerProcess server = new ServerProcess(folder.resolve("repository"), options)) {
            try (Repository repository = Annals.connect(server.uri())) {
                AnnalsException error = assertThrows(AnnalsException.class, () -> repository.snapshot().close());
                assertEquals("unavailable", error.kind());
            }
            try (Repository repository = Annals.connect(server.uri(), trusting)) {
                AnnalsException error = assertThrows(AnnalsException.class, () -> repository.snapshot().close());
                assertEquals("unauthenticated", error.kind());
            }
            try (Repository repository = Annals.connect(server.uri(), known)) {
                long position = repository
                        .transact(t -> t.create(NewEntity.of("t").id("a")))
                        .position();
                try (Snapshot now = repository.asOf(position)) {
                    assertEquals("ada", now.entity("a").orElseThrow().created().author());
                }
            }
        }
        for (ConnectOptions wrong : List.of(
                trusting.authorities(folder.resolve("ada.key")),
                trusting.authorities(folder.resolve("missing")),
                trusting.certificate(folder.resolve("ada.crt"), folder.resolve("ada.crt")))) {
            AnnalsException error = assertThrows(
                    InvalidArgumentException.class,
                    () -> Annals.connect(java.net.URI.create("https://localhost:1"), wrong));
            assertTrue(error.getMessage().contains(folder.toString()), error.getMessage());
        }
    }

    @Test
    void aClientSaysItsNameByAToken(@TempDir Path folder) throws Exception {
        make(folder, "server", "dns:localhost,ip:127.0.0.1", "RSA");
        Path tokens = folder.resolve("tokens");
        String token = newToken(tokens);
        String[] options = {
            "--tls-cert", folder.resolve("server.crt").toString(),
            "--tls-key", folder.resolve("server.key").toString(),
            "--tokens", tokens.toString()
        };
        ConnectOptions trusting = ConnectOptions.defaults().authorities(folder.resolve("server.crt"));
        try (ServerProcess server = new ServerProcess(folder.resolve("repository"), options)) {
            try (Repository repository = Annals.connect(server.uri(), trusting.token(token))) {
                repository.transact(t -> t.create(NewEntity.of("t").id("a")));
                try (Snapshot now = repository.snapshot()) {
                    assertEquals("ada", now.entity("a").orElseThrow().created().author());
                }
            }
            try (Repository repository = Annals.connect(server.uri(), trusting.token(token + "x"))) {
                AnnalsException error = assertThrows(AnnalsException.class, () -> repository.snapshot().close());
                assertEquals("unauthenticated", error.kind());
            }
        }
        for (String wrong : List.of("", " ", token + "\n", "a b", "t\u00f6ken")) {
            InvalidArgumentException error =
                    assertThrows(InvalidArgumentException.class, () -> ConnectOptions.defaults().token(wrong));
            assertTrue(error.getMessage().contains("token: expected"), error.getMessage());
            assertFalse(error.getMessage().contains(token), error.getMessage());
        }
    }

    /** The command writes only the token to its standard output. */
    private static String newToken(Path tokens) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        ServerProcess.program(), "token", "new", "ada", "--role", "write", "--tokens", tokens.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String printed = new String(process.getInputStream().readAllBytes());
        assertTrue(process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0, printed);
        return printed.strip();
    }
}
