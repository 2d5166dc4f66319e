//! TLS: HTTP/1.1 and HTTP/2, certificates read again, certificates of clients, and clients that do not finish.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;

use crate::http::access::tokens::{bearer, token};
use crate::support::{Answer, Server, read_answer};

/// An authority that signs certificates.
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // OpenSSL takes a certificate of its own name for self-signed.
        params.distinguished_name.push(DnType::CommonName, "authority of tests");
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { pem, issuer: Issuer::new(params, key) }
    }

    /// Its certificate, in PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate with these names, and its key, in PEM.
    pub fn sign(&self, names: &[&str]) -> (String, String) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// The certificate of another authority.
    fn sign_authority(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// How a client trusts it.
    fn client(&self, own: Option<&(String, String)>, protocols: &[&str]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
        let mut config = match own {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(chain.as_bytes()).unwrap()];
                builder
                    .with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap())
                    .unwrap()
            }
        };
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }
}

/// A server with TLS.
struct Secured {
    folder: tempfile::TempDir,
    authority: Authority,
    server: Server,
    token: String,
}

impl Secured {
    fn start(more: &[&str]) -> Secured {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        write_pair(folder.path(), &authority.sign(&["localhost"]));
        let token = token(Path::new(&at("tokens")), "ada", &["--role", "write"]);
        let (certificate, key, tokens, log) = (at("cert.pem"), at("key.pem"), at("tokens"), at("log"));
        let arguments = [
            "--tls-cert",
            &certificate,
            "--tls-key",
            &key,
            "--tokens",
            &tokens,
            "--log-file",
            &log,
            "--log",
            "info",
        ];
        let server = Server::start_opening(&folder.path().join("repository"), &[&arguments, more].concat());
        let secured = Secured { folder, authority, server, token };
        let deadline = Instant::now() + Duration::from_secs(30);
        while secured.get("/health/ready").is_none_or(|answer| answer.status != 200) {
            assert!(Instant::now() < deadline, "the server does not become ready");
            std::thread::sleep(Duration::from_millis(5));
        }
        secured
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn get(&self, path: &str) -> Option<Answer> {
        let bearer = bearer(&self.token);
        self.ask(self.authority.client(None, &["http/1.1"]), "GET", path, &[("authorization", &bearer)])
    }

    /// Sends a request; `None` if the handshake fails.
    fn ask(
        &self,
        config: ClientConfig,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Option<Answer> {
        let mut stream = self.connect(config);
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        read_answer(&mut BufReader::new(stream), method == "HEAD")
    }

    fn connect(&self, config: ClientConfig) -> StreamOwned<ClientConnection, TcpStream> {
        let name = ServerName::try_from("localhost").unwrap();
        StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), self.server.connect())
    }

    /// Has the server read its files again.
    fn reload(&self) {
        let log = || std::fs::read_to_string(self.at("log")).unwrap();
        let count = |text: &str| text.matches("certificates read").count();
        let before = count(&log());
        self.server.hang_up();
        let deadline = Instant::now() + Duration::from_secs(20);
        while count(&log()) == before {
            assert!(Instant::now() < deadline, "the server does not read its files again: {}", log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub fn write_pair(folder: &Path, (certificate, key): &(String, String)) {
    std::fs::write(folder.join("cert.pem"), certificate).unwrap();
    std::fs::write(folder.join("key.pem"), key).unwrap();
}

#[test]
fn requests_and_long_answers_pass_tls_in_both_versions_of_http() {
    let secured = Secured::start(&[]);
    let whoami = secured.get("/v1/whoami").unwrap();
    assert_eq!((whoami.status, whoami.json()["name"].as_str()), (200, Some("ada")));
    let description = secured.get("/openapi.json").unwrap();
    assert!(description.body.len() > 100_000, "{}", description.body.len());
    let book = secured.get("/ldp/").unwrap();
    assert!(book.body.contains("https://localhost/ldp/"), "{}", book.body);
    // HTTP/2 by ALPN, many requests at once.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let config = Arc::new(secured.authority.client(None, &["h2", "http/1.1"]));
        let socket = tokio::net::TcpStream::connect(secured.server.address).await.unwrap();
        let connector = tokio_rustls::TlsConnector::from(config);
        let stream = connector.connect(ServerName::try_from("localhost").unwrap(), socket).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let asks = (0..3).map(|_| {
            let mut sender = sender.clone();
            let request = hyper::Request::get("https://localhost/openapi.json");
            let request =
                request.header("authorization", bearer(&secured.token)).body(String::new()).unwrap();
            async move {
                let response = sender.send_request(request).await.unwrap();
                assert_eq!(response.status(), 200);
                http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes().len()
            }
        });
        let lengths = futures_util::future::join_all(asks).await;
        assert!(lengths.iter().all(|length| *length == description.body.len()), "{lengths:?}");
    });
}

#[test]
fn a_certificate_is_read_again_and_a_broken_one_keeps_the_old_one() {
    let secured = Secured::start(&[]);
    let mut following = secured.connect(secured.authority.client(None, &[]));
    let bearer = bearer(&secured.token);
    write!(following, "GET /v1/feed HTTP/1.1\r\nhost: localhost\r\nauthorization: {bearer}\r\n\r\n").unwrap();
    let mut first = [0; 15];
    following.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    let is_trusted = |authority: &Authority| {
        secured
            .ask(authority.client(None, &[]), "GET", "/health/live", &[])
            .is_some_and(|answer| answer.status == 200)
    };
    let other = Authority::new();
    assert!(is_trusted(&secured.authority) && !is_trusted(&other));
    write_pair(secured.folder.path(), &other.sign(&["localhost"]));
    secured.reload();
    assert!(!is_trusted(&secured.authority) && is_trusted(&other));
    // A key that does not belong to the certificate.
    std::fs::write(secured.at("key.pem"), secured.authority.sign(&["localhost"]).1).unwrap();
    secured.reload();
    assert!(is_trusted(&other));
    let log = std::fs::read_to_string(secured.at("log")).unwrap();
    assert!(log.contains("the certificates read before stay in force"), "{log}");
    // A connection goes on with the certificate that it began with.
    following.sock.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut rest = [0; 4_096];
    loop {
        match following.read(&mut rest) {
            Ok(0) => panic!("the connection ended"),
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                break;
            }
        }
    }
}

/// Story: `openssl x509 -req` without extensions makes certificates of version 1. Clients only saw a broken pipe.
#[test]
fn curl_shows_why_a_certificate_without_a_name_proves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let authority = Authority::new();
    std::fs::write(at("clients.pem"), &authority.pem).unwrap();
    let secured = Secured::start(&["--tls-client-ca", &at("clients.pem")]);
    std::fs::write(at("server.pem"), &secured.authority.pem).unwrap();
    std::fs::write(at("old.pem"), include_str!("version-1-of-tests.pem")).unwrap();
    let (chain, key) = authority.sign(&[]);
    std::fs::write(at("new.pem"), format!("{chain}{key}")).unwrap();
    let port = secured.server.address.port();
    let address = format!("https://localhost:{port}/v1/whoami");
    let curl = |own: &str, more: &[&str]| {
        let mut curl = Command::new("curl");
        curl.args([
            "-sS",
            "--cacert",
            &at("server.pem"),
            "--resolve",
            &format!("localhost:{port}:127.0.0.1"),
        ]);
        let output = curl.args(["--cert", &at(own), &address]).args(more).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    for own in ["old.pem", "new.pem"] {
        for version in [&["--tls-max", "1.2"][..], &["--http1.1"], &[]] {
            let told = curl(own, version);
            assert!(
                told.contains("subjectAltName") && told.contains("unauthenticated"),
                "{own} {version:?}: {told}"
            );
        }
        // A token says who asks.
        let told = curl(own, &["-H", &format!("authorization: Bearer {}", secured.token)]);
        assert!(told.contains("\"ada\""), "{own}: {told}");
    }
    let log = std::fs::read_to_string(secured.at("log")).unwrap();
    let is_told = |line: &str| line.contains("failed login") && line.contains("subjectAltName");
    assert!(log.lines().any(is_told), "{log}");
}

#[test]
fn the_certificate_of_a_client_proves_its_name() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clients.pem");
    std::fs::write(&path, &authority.pem).unwrap();
    let secured = Secured::start(&["--tls-client-ca", path.to_str().unwrap(), "--default-role", "read"]);
    let whoami = |own: Option<&(String, String)>| {
        secured.ask(secured.authority.client(own, &[]), "GET", "/v1/whoami", &[])
    };
    let known = whoami(Some(&authority.sign(&["crawler.example", "other.example"]))).unwrap().json();
    let verbs = &json!(["read"]);
    assert_eq!(
        (&known["name"], &known["proof"], &known["verbs"]),
        (&json!("crawler.example"), &json!("certificate"), verbs)
    );
    token(&secured.at("tokens"), "crawler.example", &["--role", "write", "--no-secret"]);
    secured.reload();
    let known = whoami(Some(&authority.sign(&["crawler.example"]))).unwrap().json();
    assert_eq!(known["roles"], json!(["write"]));
    assert_eq!(whoami(None).unwrap().status, 401);
    for (what, own, reason) in [
        ("no name", authority.sign(&[]), "subjectAltName"),
        ("another authority", Authority::new().sign(&["crawler.example"]), "--tls-client-ca"),
        ("an authority", authority.sign_authority("crawler.example"), "--tls-client-ca"),
    ] {
        let answer = whoami(Some(&own)).expect(what);
        assert_eq!((answer.status, answer.problem().as_str()), (401, "unauthenticated"), "{what}");
        assert!(answer.body.contains(reason), "{what}: {answer:?}");
    }
    // A token says more exactly who asks.
    let bearer = bearer(&secured.token);
    let own = authority.sign(&["crawler.example"]);
    let config = secured.authority.client(Some(&own), &[]);
    let both = secured.ask(config, "GET", "/v1/whoami", &[("authorization", &bearer)]).unwrap().json();
    assert_eq!(both["name"], "ada");
}

#[test]
fn a_request_without_tls_gets_an_answer_that_says_so() {
    let secured = Secured::start(&[]);
    let answer = secured.server.get("/v1/entities");
    assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-argument"));
    assert!(answer.body.contains("https://"), "{answer:?}");
    // The version of HTTP/2 without TLS, and noise.
    for bytes in [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], b"\0\0\0\0", b"\x16noise that is no handshake"] {
        let mut stream = secured.server.connect();
        stream.write_all(bytes).unwrap();
        let mut rest = Vec::new();
        let start = Instant::now();
        let _ = stream.read_to_end(&mut rest);
        assert!(start.elapsed() < Duration::from_secs(15), "{bytes:?}");
    }
    assert_eq!(secured.get("/health/live").unwrap().status, 200);
}

#[test]
fn half_a_handshake_is_cut_after_the_time_of_a_head_and_keeps_nobody_out() {
    let secured = Secured::start(&["--head-time-ms", "1000", "--connections-max", "8"]);
    let start = Instant::now();
    let mut halves: Vec<TcpStream> = (0..8).map(|_| secured.server.connect()).collect();
    for (index, half) in halves.iter_mut().enumerate() {
        if index % 2 == 0 {
            half.write_all(b"\x16\x03\x01\x02\x00").unwrap();
        }
    }
    // A further connection takes the place of one of them.
    assert_eq!(secured.get("/health/live").unwrap().status, 200);
    assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
    for half in &mut halves {
        let mut rest = Vec::new();
        let _ = half.read_to_end(&mut rest);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
    let one = secured.server.connect();
    let begun = Instant::now();
    let mut half = one.try_clone().unwrap();
    let mut rest = Vec::new();
    let _ = half.read_to_end(&mut rest);
    let taken = begun.elapsed();
    assert!(taken >= Duration::from_millis(800) && taken < Duration::from_secs(5), "{taken:?}");
}

#[test]
fn files_of_tls_that_do_not_read_end_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    write_pair(folder.path(), &authority.sign(&["localhost"]));
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("other.pem"), authority.sign(&["localhost"]).1).unwrap();
    std::fs::write(at("empty.pem"), "").unwrap();
    let serve = |certificate: &str, key: &str| {
        let repository = at("repository");
        let arguments =
            ["serve", &repository, "--create", "--check-config", "--tls-cert", certificate, "--tls-key", key];
        Command::new(env!("CARGO_BIN_EXE_annals")).args(arguments).output().unwrap()
    };
    assert!(serve(&at("cert.pem"), &at("key.pem")).status.success());
    for (certificate, key) in
        [("cert.pem", "other.pem"), ("empty.pem", "key.pem"), ("cert.pem", "empty.pem"), ("none", "key.pem")]
    {
        let done = serve(&at(certificate), &at(key));
        assert_eq!(done.status.code(), Some(2), "{certificate} {key}: {done:?}");
        assert!(String::from_utf8_lossy(&done.stderr).contains("TLS "), "{done:?}");
    }
}

#[test]
fn the_command_line_trusts_the_authorities_of_a_file() {
    let secured = Secured::start(&[]);
    std::fs::write(secured.at("ca.pem"), &secured.authority.pem).unwrap();
    std::fs::write(secured.at("other.pem"), Authority::new().pem).unwrap();
    let run = |host: &str, authorities: &str, arguments: &[&str]| {
        let url = format!("https://{host}:{}", secured.server.address.port());
        let done = Command::new(env!("CARGO_BIN_EXE_annals"))
            .args(["--server", &url, "--ca-file", secured.at(authorities).to_str().unwrap()])
            .args(arguments)
            .env("ANNALS_TOKEN", &secured.token)
            .env_remove("ANNALS_AUTHOR")
            .output()
            .unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let created = run("localhost", "ca.pem", &["create", "page", "a"]);
    assert_eq!(created.0, Some(0), "{created:?}");
    assert_eq!(run("localhost", "ca.pem", &["get", "a"]).0, Some(0));
    // The token goes to no server that the authorities do not name.
    for (host, authorities) in [("localhost", "other.pem"), ("127.0.0.1", "ca.pem")] {
        let (code, text) = run(host, authorities, &["get", "a"]);
        assert_eq!(code, Some(1), "{host} {authorities}: {text}");
        assert!(text.contains("ask the server") && !text.contains(&secured.token), "{text}");
    }
    let (code, text) = run("localhost", "none.pem", &["get", "a"]);
    assert_eq!((code, text.contains("none.pem")), (Some(2), true), "{text}");
}
