package dev.annals;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** The trust in servers, and the certificate of a client, from files in PEM. */
final class Tls {
    private static final char[] NO_PASSWORD = new char[0];
    private static final Pattern KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");
    private static final List<String> KEY_KINDS = List.of("EC", "RSA", "Ed25519");

    private Tls() {}

    /** Empty if the options say nothing about it. Errors: {@code invalid-argument} for a file that does not read. */
    static Optional<SSLContext> context(ConnectOptions options) {
        if (options.authorities().isEmpty() && options.certificate().isEmpty()) {
            return Optional.empty();
        }
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    options.certificate().isPresent() ? own(options.certificate().get()) : null,
                    options.authorities().isPresent() ? trust(options.authorities().get()) : null,
                    null);
            return Optional.of(context);
        } catch (GeneralSecurityException | IOException error) {
            throw AnnalsException.of("invalid-argument", "TLS: " + error, error);
        }
    }

    private static TrustManager[] trust(Path pem) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        int number = 0;
        for (Certificate one : certificates(pem)) {
            store.setCertificateEntry("authority " + number++, one);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private static KeyManager[] own(ConnectOptions.Certificate certificate) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        Certificate[] chain = certificates(certificate.chain()).toArray(Certificate[]::new);
        store.setKeyEntry("client", key(certificate.key()), NO_PASSWORD, chain);
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, NO_PASSWORD);
        return factory.getKeyManagers();
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        return store;
    }

    private static Collection<? extends Certificate> certificates(Path pem) throws GeneralSecurityException, IOException {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        Collection<? extends Certificate> found;
        try {
            found = factory.generateCertificates(new ByteArrayInputStream(Files.readAllBytes(pem)));
        } catch (CertificateException error) {
            throw AnnalsException.of(
                    "invalid-argument", pem + ": expected certificates in PEM, found something else: " + error, error);
        }
        if (found.isEmpty()) {
            throw AnnalsException.invalid(pem + ": expected certificates in PEM, found none");
        }
        return found;
    }

    private static PrivateKey key(Path pem) throws GeneralSecurityException, IOException {
        Matcher found = KEY.matcher(Files.readString(pem, StandardCharsets.US_ASCII));
        if (!found.find()) {
            throw AnnalsException.invalid(pem + ": expected a private key in PKCS#8 (BEGIN PRIVATE KEY), found none");
        }
        PKCS8EncodedKeySpec bytes =
                new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(found.group(1)));
        for (String kind : KEY_KINDS) {
            try {
                return KeyFactory.getInstance(kind).generatePrivate(bytes);
            } catch (InvalidKeySpecException error) {
                // A key of another kind.
            }
        }
        throw AnnalsException.invalid(pem + ": expected a key of " + String.join(", ", KEY_KINDS) + ", found another one");
    }
}
