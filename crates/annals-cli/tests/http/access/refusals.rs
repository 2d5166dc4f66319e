//! Each refused attempt has a line in the server log, without secrets.

use serde_json::{Value as Json, json};

use super::tokens::Guarded;

fn refusals(guarded: &Guarded) -> Vec<Json> {
    let lines = guarded.log();
    let all = lines.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    all.filter(|line| line["target"] == "annals::access" && line["message"] == "refused").collect()
}

#[test]
fn each_refused_attempt_is_in_the_log_without_secrets() {
    let guarded = Guarded::start(&["--log-format", "json"]);
    let ada = guarded.token("ada", &["--role", "read"]);
    let granted = guarded.token("eve", &["--role", "team"]);
    let page = json!({"type": "page", "properties": {"text": "SECRET-2"}});
    let statuses = [
        guarded.ask(&ada, "POST", "/v1/entities?message=SECRET-1", Some(&page)).status,
        guarded.ask("annals_ada_SECRET-3", "GET", "/v1/entities/x?where=SECRET-1", None).status,
        guarded.server.request("GET", "/v1/entities", &[], None).status,
        guarded.ask(&granted, "POST", "/v1/explain", Some(&json!({"q": "SECRET-4"}))).status,
        // By the handler, not by the table of operations.
        guarded.ask(&granted, "POST", "/v1/entities", Some(&page)).status,
        guarded.ask_with(&ada, "GET", "/metrics", &[], None).status,
        guarded.ask(&ada, "GET", "/v1/entities", None).status,
    ];
    assert_eq!(statuses, [403, 401, 401, 403, 403, 403, 200]);
    let lines = refusals(&guarded);
    let field = |line: &Json, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let shown: Vec<_> =
        lines.iter().map(|line| ["client", "method", "path", "kind"].map(|name| field(line, name))).collect();
    let expected = [
        ["ada", "POST", "/v1/entities", "forbidden"],
        ["unproven", "GET", "/v1/entities/x", "unauthenticated"],
        ["nobody", "GET", "/v1/entities", "unauthenticated"],
        ["eve", "POST", "/v1/explain", "forbidden"],
        ["eve", "POST", "/v1/entities", "forbidden"],
        ["ada", "GET", "/metrics", "forbidden"],
    ];
    assert_eq!(shown, expected.map(|row| row.map(str::to_owned)), "{lines:?}");
    for line in &lines {
        assert!(!line.to_string().contains("SECRET"), "{line}");
        assert!(!field(line, "reason").is_empty() && field(line, "address").starts_with("127."), "{line}");
    }
    // Tokens are nowhere.
    for secret in [&*ada, &granted, "SECRET-3"] {
        let secret = secret.rsplit('_').next().unwrap();
        assert!(!guarded.log().contains(secret));
    }
}

#[test]
fn a_flood_of_refused_attempts_makes_a_bounded_number_of_lines() {
    let guarded = Guarded::start(&["--log-format", "json"]);
    let start = std::time::Instant::now();
    for _ in 0..400 {
        assert_eq!(guarded.server.request("GET", "/v1/entities", &[], None).status, 401);
    }
    let bound = 110 + 10 * usize::try_from(start.elapsed().as_secs()).unwrap();
    let count = refusals(&guarded).len();
    assert!((100..=bound.min(399)).contains(&count), "{count}");
}
