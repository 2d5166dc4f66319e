//! A client with grants gets the answers of a server that never had what they do not admit.

use serde_json::{Value as Json, json};

use super::tokens::Guarded;
use crate::support::{Answer, Server};

/// In everything that no grant admits: ids, types, values, messages, names of files.
pub const CANARY: &str = "CANARY";
/// Path parameters other than ids.
const OTHERS: [(&str, &str); 9] = [
    ("{name}", "mark"),
    ("{number}", "1"),
    ("{steps}", "open-1"),
    ("{kind}", "entity"),
    ("{candidate}", "draft"),
    ("{error}", "conflict"),
    ("{lease}", "lease"),
    ("{position}", "3"),
    ("{id}", ""),
];

/// A server, and the tokens of its admin, and of a reader and a writer with grants.
struct Twin {
    guarded: Guarded,
    admin: String,
    reader: String,
    writer: String,
}

impl Twin {
    fn start(has_hidden: bool) -> Twin {
        let guarded = Guarded::start(&[]);
        let admin = guarded.token("chief", &["--role", "admin"]);
        let reader = guarded.token("reader", &["--role", "public-reader"]);
        let writer = guarded.token("writer", &["--role", "public-writer"]);
        let twin = Twin { guarded, admin, reader, writer };
        twin.declare();
        let hidden = |operations: Json| match has_hidden {
            true => twin.commit(&format!("{CANARY} message"), operations),
            // A record that nobody sees keeps the positions of both servers equal.
            false => twin.commit("", json!([{"action": "create", "kind": "entity", "type": "annals.Note"}])),
        };
        twin.commit(
            "start",
            entities(&[("top", "page"), ("open-1", "page"), ("open-2", "page"), ("gone", "page")], true),
        );
        let canary = |name: &str| format!("{CANARY}-{name}");
        let (one, two, three) = (canary("1"), canary("2"), canary("3"));
        hidden(entities(&[(&one, "page"), (&two, &canary("type")), (&three, "page")], false));
        twin.commit("contained", json!([contained("top", "open-1"), contained("open-1", "open-2")]));
        // Instances that go along with a deletion are counted, too.
        hidden(json!([contained("top", &one), contained("open-1", &two), contained("gone", &three)]));
        twin.commit("linked", json!([link("r1", "links", "open-1", "open-2")]));
        hidden(json!([
            link(&canary("r1"), "links", "open-1", &one),
            link(&canary("r2"), &canary("links"), "open-1", "open-2"),
            link(&canary("r3"), "links", &two, "open-2"),
            link(&canary("r4"), "links", "gone", &one),
        ]));
        twin.commit(
            "classified",
            json!([{"action": "classify", "id": "open-1", "classification": "mark", "properties": {"n": 1}}]),
        );
        hidden(json!([{"action": "classify", "id": one, "classification": canary("mark")}]));
        twin.commit(
            "changed",
            json!([{"action": "update", "kind": "entity", "id": "open-1", "patch": {"n": 7}}]),
        );
        hidden(
            json!([{"action": "update", "kind": "entity", "id": two, "patch": {(canary("name")): CANARY}}]),
        );
        twin.commit("deleted", json!([{"action": "delete", "kind": "entity", "id": "gone"}]));
        hidden(json!([{"action": "delete", "kind": "entity", "id": two}]));
        twin.commit("granted", json!([{"action": "create", "kind": "entity", "id": "grant", "type": "annals.Grant", "properties": {
            "role": "public-reader", "verbs": ["read"], "where": "page where public = true", "relationships": ["links", "contains"],
        }}, {"action": "create", "kind": "entity", "id": "grant-to-write", "type": "annals.Grant", "properties": {
            "role": "public-writer", "verbs": ["read", "create", "update", "delete", "classify"], "where": "page where public = true",
            "relationships": ["links", "contains"],
        }}]));
        twin
    }

    fn declare(&self) {
        let types = json!({"types": [
            {"kind": "entity", "name": "page", "attributes": [{"name": "n", "type": "integer"}]},
            {"kind": "relationship", "name": "contains", "containment": {}},
        ]});
        let answer = self.guarded.ask(&self.admin, "POST", "/v1/types", Some(&types));
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    fn commit(&self, message: &str, operations: Json) {
        let body = json!({"message": message, "operations": operations});
        let answer = self.guarded.ask(&self.admin, "POST", "/v1/transactions", Some(&body));
        assert_eq!(answer.status, 200, "{body}: {answer:?}");
    }

    fn read(&self, method: &str, path: &str, accept: &str, body: Option<&Json>) -> Answer {
        self.ask(&self.reader, method, path, accept, body)
    }

    fn ask(&self, token: &str, method: &str, path: &str, accept: &str, body: Option<&Json>) -> Answer {
        self.guarded.ask_with(token, method, path, &[("accept", accept)], body)
    }
}

fn entities(all: &[(&str, &str)], is_public: bool) -> Json {
    let one = |(id, type_name): &(&str, &str)| {
        let text = if is_public { *id } else { CANARY };
        json!({"action": "create", "kind": "entity", "id": id, "type": type_name,
               "properties": {"public": is_public, "n": 1, "text": text}})
    };
    all.iter().map(one).collect()
}

fn link(id: &str, type_name: &str, from: &str, to: &str) -> Json {
    json!({"action": "create", "kind": "relationship", "id": id, "type": type_name, "from": from, "to": to})
}

fn contained(from: &str, to: &str) -> Json {
    let mut json = link(&format!("in-{to}"), "contains", from, to);
    json["properties"] = json!({"name": to});
    json
}

/// Without instants, which differ, and without the texts of sealed cursors.
pub fn plain(answer: &Answer) -> (u16, String) {
    let mut text = String::new();
    let mut rest = answer.body.as_str();
    let is_instant = |text: &str| {
        let shape: String = text.chars().map(|one| if one.is_ascii_digit() { '0' } else { one }).collect();
        shape.starts_with("0000-00-00T00:00:00")
    };
    while let Some(found) = rest
        .char_indices()
        .find(|(at, _)| rest.is_char_boundary(at + 19) && rest.get(*at..at + 19).is_some_and(is_instant))
    {
        text.push_str(&rest[..found.0]);
        text.push('T');
        rest = rest[found.0..].split_once('Z').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    // The source of events names the log.
    const SOURCE: &str = "\"source\":\"urn:annals:";
    let mut parts = text.split(SOURCE);
    let first = parts.next().unwrap_or_default().to_owned();
    text = parts.fold(first, |text, part| text + SOURCE + part.trim_start_matches(|one| one != '"'));
    if let Some((before, next)) = text.split_once("\"next\":\"")
        && let Some((cursor, behind)) = next.split_once('"')
    {
        let is_sealed = !cursor.contains(':') && !cursor.bytes().all(|byte| byte.is_ascii_hexdigit());
        let shown = if is_sealed { cursor.len().to_string() } else { cursor.to_owned() };
        text = format!("{before}\"next\":\"{shown}\"{behind}");
    }
    (answer.status, text)
}

/// Every operation that the server describes, with each of these ids, and searches that tell much.
fn requests(server: &Server, admin: &str) -> Vec<(String, String, Option<Json>)> {
    let bearer = format!("Bearer {admin}");
    let description = server.request("GET", "/openapi.json", &[("authorization", &bearer)], None).json();
    let ids = [
        "open-1",
        "open-2",
        "r1",
        "gone",
        "top",
        "absent",
        "CANARY-1",
        "CANARY-2",
        "CANARY-r1",
        "CANARY-r2",
        "grant",
    ];
    let mut all = Vec::new();
    // Feeds have no end: so many records have a visible change.
    let ended = |path: &str| match path {
        "/v1/feed" => "/v1/feed?limit=6".to_owned(),
        path => path.to_owned(),
    };
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let filled = OTHERS.iter().fold(path.clone(), |path, (name, value)| match *name {
                "{id}" => path,
                name => path.replace(name, value),
            });
            for id in if filled.contains("{id}") { &ids[..] } else { &ids[..1] } {
                all.push((method.clone(), ended(&filled.replace("{id}", id)), None));
            }
        }
    }
    assert!(all.len() > 200, "the description lists all operations");
    for query in [
        "/v1/entities?deleted=with",
        "/v1/entities?q=page order by n desc limit 2",
        "/v1/entities?where=n > 0&limit=1",
        "/v1/entities?q=where has out links",
        "/v1/entities?q=where has in contains to (public = false)",
        "/v1/entities?type=CANARY-type",
        "/v1/entities?where=CANARY-name = 1",
        "/v1/entities?classified=CANARY-mark",
        "/v1/entities?status=CANARY",
        "/v1/entities?type=annals.Grant",
        "/v1/entities?q=* order by text",
        "/v1/entities?groupBy=@type&groupBy=@status&aggregate=max(@updatedAt)",
        "/v1/entities?groupBy=CANARY-name&aggregate=max(CANARY-name)&aggregate=min(@createdBy)",
        "/v1/entities?groupBy=text&groupBy=@id&deleted=with",
        "/v1/relationships?groupBy=@from&groupBy=@to&aggregate=max(@id)",
        "/v1/entities?atPosition=6",
        "/v1/entities?atPosition=6&deleted=with",
        "/v1/entities/open-1?atPosition=6",
        "/v1/entities/CANARY-1?atPosition=5",
        "/v1/entities/absent?atPosition=5",
        "/v1/relationships?type=CANARY-links",
        "/v1/relationships?deleted=with",
        "/v1/entities/open-1/neighbors?direction=both",
        "/v1/entities/open-1/neighbors?type=CANARY-links",
        "/v1/entities/open-1/degree?direction=out",
        "/v1/entities/open-1/degree?direction=in&atPosition=8",
        "/v1/entities/open-1/relationships?direction=both&count=true",
        "/v1/entities/top/reach?direction=both",
        "/v1/entities/top/reach?direction=both&count=true",
        "/v1/entities/top/reach/groups?direction=both&groupBy=@type",
        "/v1/entities/top/reach/count?direction=both",
        "/v1/entities/top/related?direction=both&limit=1&count=true",
        "/v1/entities/open-1/neighborhood?direction=both",
        "/v1/path?from=open-1&to=open-2",
        "/v1/path?from=open-1&to=CANARY-1",
        "/v1/path?from=open-1&to=absent",
        "/v1/paths?from=top&to=open-2&direction=both",
        "/v1/linking?from=top&to=open-2&direction=both",
        "/v1/shared?from=top&to=open-2&direction=both",
        "/v1/export?type=page",
        "/v1/export?history=true",
        "/v1/export?atPosition=8",
        "/v1/export?candidate=draft",
        "/v1/tree/open-1?depth=5",
        "/v1/tree/CANARY-1",
        "/v1/tree/absent",
        "/v1/tree-list/open-1?count=true",
        "/v1/tree-list/",
        "/v1/tree-find/?path=//*",
        "/v1/entities/open-1/history?content=true",
        "/v1/entities/open-1/diff?from=1&to=3",
        "/v1/entities/CANARY-1/diff?from=1&to=2",
        "/v1/feed?search=page&limit=4",
        "/v1/feed?search=*&kind=relationship&limit=2",
        "/v1/feed?search=page&after=6&limit=3",
        "/v1/feed?tree=/&root=top&limit=2",
        "/v1/feed?tree=/open-1&root=top&limit=2",
        "/v1/feed?tree=/open-1/n&root=top&limit=1",
        "/v1/log?order=oldest-first",
        "/v1/log?limit=1",
        "/v1/log?limit=2&after=12",
        "/v1/log?author=chief&kind=relationship",
        "/v1/log?type=CANARY-type",
        "/v1/log?type=page&verb=delete",
        "/v1/log?id=open-1",
        "/v1/log?id=CANARY-1",
        "/v1/log?id=absent",
        "/v1/diff?from=0&to=14",
        "/v1/diff?from=3&to=4",
        "/v1/diff?from=6&to=14&limit=1",
        "/v1/tree-diff/?root=top&fromPosition=0",
        "/v1/tree-diff/open-1?root=top&fromPosition=6",
        "/v1/tree-diff/CANARY-1?root=top&fromPosition=6",
    ] {
        all.push(("GET".into(), query.replace(' ', "%20"), None));
    }
    for body in [
        json!({"kind": "entity"}),
        json!({"deleted": "with"}),
        json!({"kind": "relationship"}),
        json!({"type": "CANARY-type"}),
        json!({"q": "where text = 'CANARY'"}),
        json!({"q": "where not public = true"}),
        json!({"type": "page", "atPosition": 6}),
    ] {
        for path in ["/v1/find", "/v1/count", "/v1/groups", "/v1/explain"] {
            all.push(("POST".into(), path.into(), Some(body.clone())));
        }
    }
    let grouped = json!({"groupBy": ["@type", "text"], "aggregate": ["sum(n)", "max(@id)"], "atPosition": 6});
    all.push(("POST".into(), "/v1/groups".into(), Some(grouped)));
    all
}

/// Refuses an answer that tells something hidden which the client has not said.
pub fn check_told(answer: &Answer, what: &str, asked: &str) {
    // An answer may repeat what the client asked for.
    let all = format!("{} {:?}", answer.body, answer.headers);
    let told = asked.split(['/', '?', '=', '&', '%', '"', ' ', '\'']).filter(|part| part.contains(CANARY));
    let all = told.fold(all, |all, part| all.replace(part, ""));
    assert!(!all.contains(CANARY), "{what}: {answer:?}");
}

/// True if the writer may not ask it of the twins: it changes something that they both have, but not everything that
/// belongs to it.
fn is_of_both(method: &str, path: &str) -> bool {
    let names = ["open-1", "open-2", "r1", "gone", "top"];
    method != "GET" && path.split('/').any(|part| names.contains(&part))
}

#[test]
fn no_answer_tells_of_what_no_grant_admits() {
    let (whole, part) = (Twin::start(true), Twin::start(false));
    let mut answered = 0;
    for (method, path, body) in requests(&whole.guarded.server, &whole.admin) {
        // Each run of a server has an id of its own, which tells of no data.
        if path == "/health/live" {
            continue;
        }
        for accept in [
            "application/json",
            "application/x-ndjson",
            "application/graphml+xml",
            "text/vnd.graphviz",
            "text/turtle",
        ] {
            if accept != "application/json" && method != "GET" {
                continue;
            }
            let tokens: [fn(&Twin) -> &str; 2] = [|twin| &twin.reader, |twin| &twin.writer];
            for token in tokens.into_iter().take(if is_of_both(&method, &path) { 1 } else { 2 }) {
                let [seen, own] =
                    [&whole, &part].map(|twin| twin.ask(token(twin), &method, &path, accept, body.as_ref()));
                let what = format!("{method} {path} {accept} {body:?} {}", token(&whole));
                assert_eq!(plain(&seen), plain(&own), "{what}");
                check_told(&seen, &what, &format!("{path} {body:?}"));
                answered += usize::from(seen.status == 200);
            }
        }
    }
    for path in [
        "/v1/log",
        "/v1/feed?limit=6",
        "/v1/diff?from=0&to=14",
        "/v1/tree-diff/open-1?root=top&fromPosition=6",
    ] {
        assert_eq!(whole.read("GET", path, "*/*", None).status, 200, "{path}");
    }
    assert!(answered > 150, "expected most reads to be answered, found {answered} that were");
    // Hidden and absent are the same bytes.
    for path in ["", "/history", "/neighbors", "/summary", "/reach", "/versions/1", "/classifications/mark"] {
        let ask = |id: &str| plain(&whole.read("GET", &format!("/v1/entities/{id}{path}"), "*/*", None));
        let (status, text) = ask("CANARY-1");
        assert_eq!((status, text.replace("CANARY-1", "absent-1")), ask("absent-1"), "{path}");
    }
}

#[test]
fn grants_follow_their_changes_at_once_and_only_admins_write_them() {
    let twin = Twin::start(true);
    let ids = || {
        let answer = twin.read("GET", "/v1/entities?type=page&deleted=without", "application/json", None);
        let items = answer.json()["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(), ["top", "open-1", "open-2"]);
    twin.commit(
        "",
        json!([{"action": "update", "kind": "entity", "id": "open-2", "patch": {"public": false}}]),
    );
    assert_eq!(ids(), ["top", "open-1"]);
    twin.commit(
        "",
        json!([{"action": "update", "kind": "entity", "id": "grant", "patch": {"under": "open-1"}}]),
    );
    assert_eq!(ids(), ["open-1"]);
    let more = json!([{"action": "create", "kind": "entity", "id": "more", "type": "annals.Grant",
        "properties": {"role": "public-reader", "where": "page where text = 'CANARY'"}}]);
    twin.commit("", more);
    assert_eq!(ids(), ["open-1", "CANARY-1"]);
    twin.commit("", json!([{"action": "delete", "kind": "entity", "id": "more"}, {"action": "delete", "kind": "entity", "id": "grant"}]));
    assert_eq!(ids(), [] as [&str; 0]);
    let writer = twin.guarded.token("writer", &["--role", "write"]);
    let grant = json!({"id": "own", "type": "annals.Grant", "properties": {"role": "public-reader"}});
    let answer = twin.guarded.ask(&writer, "POST", "/v1/entities", Some(&grant));
    assert_eq!((answer.status, answer.problem().as_str()), (403, "forbidden"));
    for (wrong, told) in [
        (json!({}), "role"),
        (json!({"role": "write"}), "built in"),
        (json!({"role": "r", "verbs": ["purge"]}), "verb"),
        (json!({"role": "r", "where": "page where"}), ""),
        (json!({"role": "r", "where": "page where has out links"}), "relationships"),
        (json!({"role": "r", "where": 7}), "where"),
    ] {
        let grant = json!({"type": "annals.Grant", "properties": wrong});
        let answer = twin.guarded.ask(&twin.admin, "POST", "/v1/entities", Some(&grant));
        assert_eq!(answer.status, 400, "{wrong}: {answer:?}");
        assert!(answer.body.contains(told), "{wrong}: {answer:?}");
    }
}
