//! Servers on one log in PostgreSQL that are behind or cut off: grants, subscriptions, and reads as of a time.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::beside_a_writer::{create, until};
use super::standby::{TAKEOVER_MAX, new_place, start, writes};
use crate::http::access::tokens::{bearer, token};
use crate::postgres::shared;
use crate::support::{Answer, Server, try_request};

/// Grants that were revoked hide what they showed within this time, or nothing is shown.
const GRANTS_AGE_MAX: Duration = Duration::from_secs(10);

/// A user of the store that one server has for itself, so that it can be cut off.
struct User(&'static str);

impl User {
    fn new(name: &'static str) -> User {
        // The tables that it makes are those of `annals`, as of all servers.
        shared().sql(&format!("create role {name} login in role annals"));
        shared().sql(&format!("alter role {name} set role annals"));
        User(name)
    }

    fn place(&self, place: &str) -> String {
        place.replace("annals@", &format!("{}@", self.0))
    }

    fn cut_off(&self) {
        let name = self.0;
        shared().sql(&format!("alter role {name} nologin"));
        shared()
            .sql(&format!("select pg_terminate_backend(pid) from pg_stat_activity where usename = '{name}'"));
    }

    fn let_in(&self) {
        shared().sql(&format!("alter role {} login", self.0));
    }
}

/// Asks with a token.
fn ask(server: &Server, token: &str, method: &str, path: &str, body: Option<&Json>) -> Answer {
    let bearer = bearer(token);
    let headers = [("authorization", bearer.as_str())];
    try_request(server.address, method, path, &headers, body.map(Json::to_string).as_deref()).unwrap()
}

/// Asks again until the status is one of those.
fn until_status(statuses: &[u16], mut ask: impl FnMut() -> Answer) -> Answer {
    let start = Instant::now();
    loop {
        let answer = ask();
        if statuses.contains(&answer.status) {
            return answer;
        }
        assert!(start.elapsed() < TAKEOVER_MAX, "{answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn tokens(folder: &Path) -> (String, String, String) {
    let file = folder.join("tokens");
    let admin = token(&file, "chief", &["--role", "admin"]);
    let reader = token(&file, "reader", &["--role", "public"]);
    (file.to_str().unwrap().to_owned(), admin, reader)
}

/// A writer that was cut off went on with its grants, although another server wrote in its place.
#[test]
fn what_a_revoked_grant_showed_is_hidden_by_every_server_within_ten_seconds() {
    let place = new_place();
    let folder = tempfile::tempdir().unwrap();
    let (file, admin, reader) = tokens(folder.path());
    let user = User::new("grants_writer");
    let old = start(&user.place(&place), &["--standby", "--tokens", &file]);
    let grant = |id: &str| {
        json!({"action": "create", "kind": "entity", "id": id, "type": "annals.Grant", "properties": {
            "role": "public", "verbs": ["read"], "where": "page where public = true",
        }})
    };
    let page = json!({"action": "create", "kind": "entity", "id": "open", "type": "page", "properties": {"public": true}});
    let commit = |server: &Server, operation: Json| {
        let body = json!({ "operations": [operation] });
        until_status(&[200], || ask(server, &admin, "POST", "/v1/transactions", Some(&body)));
    };
    let delete = |id: &str| json!({"action": "delete", "kind": "entity", "id": id});
    commit(&old, page);
    commit(&old, grant("first"));
    let standby = start(&place, &["--standby", "--tokens", &file]);
    let follower = start(&place, &["--read-only", "--tokens", &file]);
    let read = |server: &Server| ask(server, &reader, "GET", "/v1/entities/open", None);
    let all_show = || {
        for server in [&old, &standby, &follower] {
            until_status(&[200], || read(server));
        }
    };
    all_show();
    let hidden = |since: Instant, server: &Server| {
        until_status(&[403, 404, 503], || read(server));
        assert!(since.elapsed() < GRANTS_AGE_MAX, "{:?}", since.elapsed());
    };
    commit(&old, delete("first"));
    let revoked = Instant::now();
    [&old, &standby, &follower].into_iter().for_each(|server| hidden(revoked, server));
    commit(&old, grant("second"));
    all_show();

    user.cut_off();
    commit(&standby, delete("second"));
    let revoked = Instant::now();
    [&standby, &follower, &old].into_iter().for_each(|server| hidden(revoked, server));
    let refused = until_status(&[503], || read(&old));
    assert_eq!(refused.problem(), "not-visible", "{refused:?}");
    let all = ask(&old, &admin, "GET", "/v1/entities/open", None);
    assert_eq!(all.status, 200, "who reads everything reads what was");
    user.let_in();
    let told = until_status(&[403, 404], || read(&old));
    assert_ne!(told.status, 200);
}

/// The events of a feed. Shape: `[(id, data)]`, without the heartbeats.
fn events(answer: &Answer) -> Vec<(u64, Json)> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let event = |block: &str| {
        let line = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        Some((line("id: ")?.parse().unwrap(), serde_json::from_str(&line("data: ")?).unwrap()))
    };
    answer.body.split("\n\n").filter_map(event).collect()
}

/// A client goes on at another server with the last event that it has, also after a takeover.
#[test]
fn a_subscription_goes_on_at_any_server_with_the_last_event() {
    let place = new_place();
    let mut first = start(&place, &["--standby"]);
    writes(&first, "begun");
    let second = start(&place, &["--standby"]);
    let follower = start(&place, &["--read-only"]);
    let contains = json!({"action": "define-type", "type": {"kind": "relationship", "name": "contains", "containment": {}}});
    first.commit(&[contains]);
    let set = |server: &Server, n: i64| {
        let body = json!({"$type": "t", "n": n});
        let answer = server.send("PUT", "/v1/tree/c", &body);
        assert!(answer.status < 300, "{answer:?}");
        answer.header("annals-position").unwrap().parse::<u64>().unwrap()
    };
    let positions: Vec<u64> = (0..4).map(|n| set(&first, n)).collect();
    let feed = |server: &Server, part: &str, after: u64, limit: u64| {
        let (path, after) = (format!("/v1/feed?limit={limit}{part}"), after.to_string());
        events(&server.request("GET", &path, &[("last-event-id", &after)], None))
    };
    let last = positions[3];
    let all = feed(&first, "", 0, last);
    assert_eq!(all.iter().map(|(id, _)| *id).collect::<Vec<_>>(), (1..=last).collect::<Vec<_>>());
    let changes = feed(&first, "&tree=/c", positions[0], 3);
    assert_eq!(changes.iter().map(|(id, _)| *id).collect::<Vec<_>>(), positions[1..]);
    for server in [&second, &follower] {
        for after in 0..last {
            let rest = feed(server, "", after, last - after);
            assert_eq!(rest, all[after as usize..], "after {after}");
        }
        assert_eq!(feed(server, "&tree=/c", positions[1], 2), changes[1..]);
    }
    first.kill_and_wait();
    writes(&second, "after");
    let changed = set(&second, 9);
    // The record of the term is one of them.
    for server in [&second, &follower] {
        let rest = feed(server, "", last - 1, changed - last + 1);
        assert_eq!(rest.iter().map(|(id, _)| *id).collect::<Vec<_>>(), (last..=changed).collect::<Vec<_>>());
        assert_eq!(rest[0], all[last as usize - 1]);
        let tree = feed(server, "&tree=/c", last, 1);
        assert_eq!(tree.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [changed]);
    }
}

/// A follower that had not read a position yet said that there is none.
#[test]
fn a_follower_that_is_behind_answers_reads_as_of_what_it_has_and_no_others() {
    let place = new_place();
    let user = User::new("behind");
    let writer = start(&place, &[]);
    let follower = start(&user.place(&place), &["--read-only", "--visible-time-ms", "300"]);
    let instant = |made: &Answer| made.json()["created"]["instant"].as_str().unwrap().to_owned();
    let position = |made: &Answer| made.header("annals-position").unwrap().to_owned();
    let first = create(&writer, "a");
    // Two signs of life: the instant is settled.
    let settled =
        until(&follower, &format!("/v1/entities/a?at={}", instant(&first)), |answer| answer.status == 200);
    assert_eq!(settled.status, 200, "{settled:?}");
    user.cut_off();
    let second = create(&writer, "b");
    let as_of_first = [format!("at={}", instant(&first)), format!("atPosition={}", position(&first))];
    let as_of_second = [format!("at={}", instant(&second)), format!("atPosition={}", position(&second))];
    let body = |time: &str| {
        let (name, value) = time.split_once('=').unwrap();
        let value = value.parse::<u64>().map_or_else(|_| json!(value), |number| json!(number));
        json!({"kind": "entity", "type": "thing", name: value})
    };
    for time in &as_of_second {
        let behind = [
            follower.get(&format!("/v1/entities/b?{time}")),
            follower.get(&format!("/v1/entities?{time}")),
            follower.send("POST", "/v1/find", &body(time)),
        ];
        for refused in behind {
            assert_eq!(
                (refused.status, refused.problem().as_str()),
                (503, "not-visible"),
                "{time}: {refused:?}"
            );
        }
    }
    let refused = follower.get(&format!("/v1/diff?from={}&to={}", position(&first), position(&second)));
    assert_eq!((refused.status, refused.problem().as_str()), (503, "not-visible"), "{refused:?}");
    let shows_first = || {
        for time in &as_of_first {
            assert_eq!(follower.get(&format!("/v1/entities/a?{time}")).status, 200, "{time}");
            assert_eq!(follower.get(&format!("/v1/entities/b?{time}")).status, 404, "{time}");
        }
    };
    shows_first();
    user.let_in();
    for time in &as_of_second {
        let path = format!("/v1/entities/b?{time}");
        let found = until(&follower, &path, |answer| answer.status == 200);
        assert_eq!(found.status, 200, "{found:?}");
    }
    shows_first();
    // The writer knows that there is no such position.
    assert_eq!(writer.get("/v1/entities/a?atPosition=1000").status, 404);
}
