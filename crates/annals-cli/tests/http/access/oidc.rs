//! Tokens that an OIDC provider signs, and attacks on them.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value as Json, json};

use crate::support::{Answer, Server};

const ISSUER: &str = "https://login.example/realms/annals";

enum Signer {
    Rsa(Box<RsaKeyPair>),
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Signer {
    fn rsa() -> Signer {
        let pem = include_str!("rsa-of-tests.pem");
        let lines: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        Signer::Rsa(Box::new(RsaKeyPair::from_pkcs8(&STANDARD.decode(lines).unwrap()).unwrap()))
    }

    fn p256() -> Signer {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Signer::P256(EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap())
    }

    fn ed25519() -> Signer {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Signer::Ed25519(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap())
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Signer::Rsa(_) => "RS256",
            Signer::P256(_) => "ES256",
            Signer::Ed25519(_) => "EdDSA",
        }
    }

    fn jwk(&self, id: &str) -> Json {
        match self {
            Signer::Rsa(key) => {
                let public = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(key.public_key());
                json!({ "kty": "RSA", "kid": id, "use": "sig", "n": encoded(public.n), "e": encoded(public.e) })
            }
            Signer::P256(key) => {
                let point = key.public_key().as_ref();
                json!({ "kty": "EC", "crv": "P-256", "kid": id, "x": encoded(&point[1..33]), "y": encoded(&point[33..]) })
            }
            Signer::Ed25519(key) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": encoded(key.public_key()) })
            }
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Signer::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
            Signer::P256(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Signer::Ed25519(key) => key.sign(message).as_ref().to_vec(),
        }
    }

    fn token(&self, id: &str, claims: &Json) -> String {
        self.token_with(json!({ "alg": self.algorithm(), "kid": id, "typ": "JWT" }), claims)
    }

    fn token_with(&self, header: Json, claims: &Json) -> String {
        let signed = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let signature = self.sign(signed.as_bytes());
        format!("{signed}.{}", encoded(signature))
    }
}

fn now() -> i64 {
    annals::Instant::now().micros() / 1_000_000
}

fn claims() -> Json {
    json!({
        "iss": ISSUER, "aud": ["other", "annals"], "sub": "ada", "exp": now() + 300, "nbf": now() - 10,
        "realm_access": { "roles": ["editors", "unknown"] },
    })
}

fn changed(changes: Json) -> Json {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Json::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

fn start(folder: &std::path::Path, keys: &str) -> Server {
    let roles = [
        "--oidc-roles-claim",
        "realm_access.roles",
        "--oidc-role",
        "editors=write",
        "--oidc-role",
        "bosses=admin",
    ];
    let arguments = ["--oidc-issuer", ISSUER, "--oidc-audience", "annals", "--oidc-keys", keys];
    Server::start(&folder.join("repository"), &[&arguments[..], &roles].concat())
}

fn whoami(server: &Server, token: &str) -> Answer {
    server.request("GET", "/v1/whoami", &[("authorization", &format!("Bearer {token}"))], None)
}

#[test]
fn a_token_of_the_provider_proves_name_and_roles_with_each_algorithm() {
    let folder = tempfile::tempdir().unwrap();
    let signers = [Signer::rsa(), Signer::p256(), Signer::ed25519()];
    let keys = json!({ "keys": signers.iter().map(|one| one.jwk(one.algorithm())).collect::<Vec<_>>() });
    let path = folder.path().join("keys.json");
    std::fs::write(&path, keys.to_string()).unwrap();
    let server = start(folder.path(), path.to_str().unwrap());
    for signer in &signers {
        let answer = whoami(&server, &signer.token(signer.algorithm(), &claims()));
        assert_eq!(answer.status, 200, "{}: {answer:?}", signer.algorithm());
        let json = answer.json();
        assert_eq!(
            (&json["name"], &json["proof"], &json["roles"]),
            (&json!("ada"), &json!("oidc"), &json!(["write"]))
        );
        assert!(json["until"].is_string());
        // Without the name of a key.
        let header = json!({ "alg": signer.algorithm() });
        assert_eq!(whoami(&server, &signer.token_with(header, &claims())).status, 200);
    }
    let signer = &signers[1];
    let none = signer.token("ES256", &changed(json!({ "realm_access": null })));
    assert_eq!(whoami(&server, &none).json()["verbs"], json!([]));
    let bearer = format!("Bearer {none}");
    let read = server.request("GET", "/v1/entities", &[("authorization", &bearer)], None);
    assert_eq!((read.status, read.problem().as_str()), (403, "forbidden"));
    let bearer = format!("Bearer {}", signer.token("ES256", &claims()));
    let made =
        server.request("POST", "/v1/entities", &[("authorization", &bearer)], Some(r#"{"type": "t"}"#));
    assert_eq!((made.status, made.json()["created"]["author"].as_str()), (201, Some("ada")));
}

#[test]
fn tokens_of_attackers_prove_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (rsa, p256, other) = (Signer::rsa(), Signer::p256(), Signer::p256());
    let keys = json!({ "keys": [rsa.jwk("r"), p256.jwk("p")] });
    let path = folder.path().join("keys.json");
    std::fs::write(&path, keys.to_string()).unwrap();
    let server = start(folder.path(), path.to_str().unwrap());
    let good = p256.token("p", &claims());
    assert_eq!(whoami(&server, &good).status, 200);
    let of = |changes: Json| p256.token("p", &changed(changes));
    let with = |header: Json| p256.token_with(header, &claims());
    let unsigned = |algorithm: &str| {
        format!("{}.{}.", encoded(json!({ "alg": algorithm }).to_string()), encoded(claims().to_string()))
    };
    // HMAC with the public key as the secret, as a library that trusts `alg` would verify it.
    let hmac = |secret: &[u8]| {
        let header = json!({ "alg": "HS256", "kid": "r" }).to_string();
        let signed = format!("{}.{}", encoded(header), encoded(claims().to_string()));
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
        format!("{signed}.{}", encoded(ring::hmac::sign(&key, signed.as_bytes())))
    };
    let (head, rest) = good.split_once('.').unwrap();
    let (_, signature) = rest.split_once('.').unwrap();
    let mut attacks = vec![
        ("none", unsigned("none")),
        ("None", unsigned("None")),
        ("empty signature", unsigned("ES256")),
        ("hmac with n", hmac(rsa.jwk("r")["n"].as_str().unwrap().as_bytes())),
        ("hmac with the set", hmac(keys.to_string().as_bytes())),
        ("another key", other.token("p", &claims())),
        ("an unknown key", other.token("x", &claims())),
        ("key in the header", other.token_with(json!({ "alg": "ES256", "jwk": other.jwk("p") }), &claims())),
        ("algorithm of another key", with(json!({ "alg": "RS256", "kid": "p" }))),
        (
            "other claims",
            format!("{head}.{}.{signature}", encoded(changed(json!({ "sub": "eve" })).to_string())),
        ),
        ("audience", of(json!({ "aud": "other" }))),
        ("no audience", of(json!({ "aud": null }))),
        ("issuer", of(json!({ "iss": "https://evil.example" }))),
        ("issuer with a slash", of(json!({ "iss": format!("{ISSUER}/") }))),
        ("expired", of(json!({ "exp": now() - 60 }))),
        ("no end", of(json!({ "exp": null }))),
        ("end as text", of(json!({ "exp": "9999999999" }))),
        ("future", of(json!({ "nbf": now() + 120 }))),
        ("begin as text", of(json!({ "nbf": "0" }))),
        ("no name", of(json!({ "sub": null }))),
        ("empty name", of(json!({ "sub": "" }))),
        ("control in the name", of(json!({ "sub": "ada\r\nx: y" }))),
        ("long name", of(json!({ "sub": "a".repeat(300) }))),
        ("extension", with(json!({ "alg": "ES256", "kid": "p", "crit": ["b64"], "b64": false }))),
        ("another kind", with(json!({ "alg": "ES256", "kid": "p", "typ": "secevent+jwt" }))),
        ("padding", format!("{good}=")),
        ("four parts", format!("{good}.x")),
        ("long", of(json!({ "more": "x".repeat(20_000) }))),
        ("claims that are no object", p256.token("p", &json!(["iss"]))),
    ];
    attacks.push(("as a password", String::from("x")));
    // All at once, because a client that fails again and again waits for its answers.
    let server = &server;
    std::thread::scope(|scope| {
        for (name, token) in &attacks {
            scope.spawn(move || {
                let answer = whoami(server, token);
                assert_eq!((answer.status, answer.problem().as_str()), (401, "unauthenticated"), "{name}");
            });
        }
    });
}

/// A provider that counts how often its keys are asked for.
struct Provider {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    keys: Arc<Mutex<Json>>,
}

impl Provider {
    fn start(keys: Json) -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, keys) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(keys)));
        let (count, known) = (Arc::clone(&asked), Arc::clone(&keys));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                    line.clear();
                }
                count.fetch_add(1, Ordering::Relaxed);
                let body = known.lock().unwrap().to_string();
                let _ = write!(
                    reader.get_mut(),
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        Provider { address, asked, keys }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[test]
fn keys_of_a_url_are_fetched_once_and_a_flood_of_unknown_ones_makes_no_flood_there() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (Signer::p256(), Signer::p256());
    let provider = Provider::start(json!({ "keys": [old.jwk("old")] }));
    let server = start(folder.path(), &format!("http://{}/keys", provider.address));
    assert_eq!(provider.asked(), 0);
    for _ in 0..3 {
        assert_eq!(whoami(&server, &old.token("old", &claims())).status, 200);
    }
    assert_eq!(provider.asked(), 1);
    // An address that has sent a signed token gets one fetch more: a new key within the minute is known, and a flood makes none
    // beyond it. (Anybody could spend the only one before.)
    *provider.keys.lock().unwrap() = json!({ "keys": [old.jwk("old"), new.jwk("new")] });
    std::thread::scope(|scope| {
        for index in 0..8 {
            let (server, new) = (&server, &new);
            scope.spawn(move || whoami(server, &new.token(&format!("x{index}"), &claims())));
        }
    });
    assert_eq!(whoami(&server, &new.token("new", &claims())).status, 200);
    assert_eq!(whoami(&server, &old.token("old", &claims())).status, 200);
    assert_eq!(provider.asked(), 2);
    let folder = tempfile::tempdir().unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = start(folder.path(), &format!("http://{closed}/keys"));
    let answer = whoami(&server, &old.token("old", &claims()));
    assert_eq!((answer.status, answer.problem().as_str()), (503, "busy"));
    let answer = whoami(&server, &old.token("old", &changed(json!({ "aud": "other" }))));
    assert_eq!(answer.status, 401, "no fetch for tokens that are not for this server");
}

/// A provider of which only the address is named. `answer` gives the body for a path.
fn issuer(answer: impl Fn(&str, &str) -> String + Send + 'static) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = format!("http://{}/realm", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let (known, address) = (Arc::clone(&asked), own.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (mut first, mut line) = (String::new(), String::new());
            let _ = reader.read_line(&mut first);
            while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                line.clear();
            }
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            let body = answer(&address, &path);
            known.lock().unwrap().push(path);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = reader.get_mut().write_all([head, body].concat().as_bytes());
        }
    });
    (own, asked)
}

fn start_with_issuer(folder: &std::path::Path, issuer: &str) -> Server {
    let arguments = ["--oidc-issuer", issuer, "--oidc-audience", "annals", "--oidc-role", "*=read"];
    Server::start(&folder.join("repository"), &arguments)
}

#[test]
fn an_issuer_names_its_keys_and_a_new_key_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (Signer::p256(), Signer::rsa());
    let keys = Arc::new(Mutex::new(json!({ "keys": [old.jwk("old")] })));
    let known = Arc::clone(&keys);
    let (own, asked) = issuer(move |own, path| match path {
        "/realm/.well-known/openid-configuration" => {
            json!({ "issuer": own, "jwks_uri": format!("{own}/keys"), "x": [1, 2] }).to_string()
        }
        _ => known.lock().unwrap().to_string(),
    });
    let server = start_with_issuer(folder.path(), &own);
    assert!(asked.lock().unwrap().is_empty());
    let of = |signer: &Signer, id: &str| whoami(&server, &signer.token(id, &changed(json!({ "iss": own }))));
    for _ in 0..2 {
        let answer = of(&old, "old");
        assert_eq!((answer.status, answer.json()["name"].as_str()), (200, Some("ada")), "{answer:?}");
    }
    *keys.lock().unwrap() = json!({ "keys": [old.jwk("old"), new.jwk("new")] });
    assert_eq!(of(&new, "new").status, 200);
    for number in 0..5 {
        assert_eq!(of(&new, &format!("x{number}")).status, 401);
    }
    let configuration = "/realm/.well-known/openid-configuration";
    assert_eq!(*asked.lock().unwrap(), [configuration, "/realm/keys", configuration, "/realm/keys"]);
}

#[test]
fn a_configuration_that_does_not_fit_proves_nobody() {
    let signer = Signer::p256();
    let set = json!({ "keys": [signer.jwk("k")] }).to_string();
    for (what, configuration) in [
        ("another issuer", r#"{"issuer": "https://evil.example", "jwks_uri": "OWN/keys"}"#),
        ("no issuer", r#"{"jwks_uri": "OWN/keys"}"#),
        ("no keys", r#"{"issuer": "OWN"}"#),
        ("keys without TLS", r#"{"issuer": "OWN", "jwks_uri": "http://192.0.2.1/keys"}"#),
        ("a file", r#"{"issuer": "OWN", "jwks_uri": "file:///etc/passwd"}"#),
        ("no JSON", "<html>"),
        ("a list", "[1]"),
        ("long", "LONG"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let set = set.clone();
        let (own, asked) = issuer(move |own, path| match path {
            "/realm/keys" => set.clone(),
            _ if configuration == "LONG" => "x".repeat(2 << 20),
            _ => configuration.replace("OWN", own),
        });
        let server = start_with_issuer(folder.path(), &own);
        let token = signer.token("k", &changed(json!({ "iss": own })));
        let begin = std::time::Instant::now();
        for _ in 0..3 {
            let answer = whoami(&server, &token);
            assert_eq!((answer.status, answer.problem().as_str()), (503, "busy"), "{what}: {answer:?}");
        }
        assert!(begin.elapsed().as_secs() < 6, "{what}");
        assert_eq!(asked.lock().unwrap().len(), 1, "{what}");
    }
}

#[test]
fn an_issuer_on_another_machine_needs_tls_or_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    for issuer in ["http://login.example/realm", "login.example", "ftp://127.0.0.1", "http://127.0.0.1/?x"] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_annals"))
            .args(["serve", "--create", folder.path().join("r").to_str().unwrap(), "--check-config"])
            .args(["--oidc-issuer", issuer, "--oidc-audience", "annals"])
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && told.contains("--oidc-keys"), "{issuer}: {told}");
    }
}
