//! Web Access Control beside the rest: roles, other doors, histories, deletions and restarts.

use serde_json::{Value as Json, json};

use super::webac::{ADA, Site, TURTLE};
use crate::http::access::tokens::{annals, bearer};
use crate::support::{Server, try_request};

#[test]
fn a_role_keeps_its_verbs_beside_acls() {
    let site = Site::open();
    let reader = site.guarded.token("reader", &["--role", "read"]);
    let writer = site.guarded.token("writer", &["--role", "write"]);
    let operator = site.guarded.token("operator", &["--role", "operate"]);
    site.put("/a", "");
    site.put("/a/fcr:acl", "<#a> a acl:Authorization .");
    assert_eq!(
        [&reader, &writer, &operator, &site.ada].map(|token| site.status(token, "GET", "/a")),
        [200, 200, 403, 403]
    );
    assert_eq!([&reader, &writer].map(|token| site.status(token, "GET", "/a/fcr:acl")), [200, 200]);
    assert_eq!(
        [&reader, &writer].map(|token| site.update(token, "/a", "INSERT DATA { <> <urn:p> 1 }")),
        [403, 204]
    );
    // Roles without `administer` write no ACL, unless one gives them acl:Control.
    for (method, body) in [("PUT", " "), ("DELETE", "")] {
        assert_eq!(site.ask(&writer, method, "/a/fcr:acl", &[TURTLE], body).status, 403, "{method}");
    }
    site.give_to("/a", "acl:agent 'writer', 'reader'", "Control Append", false);
    assert_eq!(site.update(&writer, "/a/fcr:acl", "INSERT DATA { <#a> <urn:p> 1 }"), 204);
    // An ACL adds to a role.
    assert_eq!([&reader, &site.ada].map(|token| site.status(token, "POST", "/a")), [201, 403]);
    assert_eq!(site.status(&reader, "DELETE", "/a"), 403);
    // Tombstones keep histories, which no ACL gives away, not even where a placeholder stays.
    site.put("/p/x", "");
    site.put("/from", &format!("<> <urn:to> <{}> .", site.iri("/p/x")));
    site.give("/p", "Read Write Control");
    assert_eq!(
        [("DELETE", "/p/x"), ("DELETE", "/p/x/fcr:tombstone")]
            .map(|(method, path)| site.status(&site.ada, method, path)),
        [204, 403]
    );
    site.give("/a", "Read Write Control");
    assert_eq!(site.status(&site.ada, "DELETE", "/a"), 204);
    assert_eq!(
        [&site.ada, &writer, &site.admin].map(|token| site.status(token, "DELETE", "/a/fcr:tombstone")),
        [403, 403, 204]
    );
}

#[test]
fn the_json_door_shows_nothing_by_acls() {
    let site = Site::open();
    site.put("/a", "<> <urn:p> 'CANARY' .");
    site.give("/a", "Read Write Control");
    assert_eq!(site.read("/a"), 200);
    for path in
        ["/v1/entities/ldp:%2Fa", "/v1/entities", "/v1/entities/ldp:%2Fa%2Ffcr:acl", "/v1/log", "/v1/export"]
    {
        let answer = site.ask(&site.ada, "GET", path, &[], "");
        assert!(
            [200, 403, 404].contains(&answer.status) && !answer.body.contains("CANARY"),
            "{path}: {answer:?}"
        );
        assert!(!answer.body.contains("fcr:acl\""), "{path}: {answer:?}");
    }
    let body = json!({"operations": [{"action": "delete", "kind": "entity", "id": "ldp:/a"}]});
    let refused = site.ask(&site.ada, "POST", "/v1/transactions", &[], &body.to_string());
    assert!([403, 404].contains(&refused.status), "{refused:?}");
    assert_eq!(site.read("/a"), 200);
}

fn commit(site: &Site, token: &str, operation: &Json) -> u16 {
    let body = json!({"operations": [operation]}).to_string();
    site.ask(token, "POST", "/v1/transactions", &[("content-type", "application/json")], &body).status
}

#[test]
fn other_doors_change_acls_for_admins_only() {
    let site = Site::open();
    let writer = site.guarded.token("writer", &["--role", "write"]);
    site.put("/a", "");
    site.put("/b", "");
    site.give("/a", "Read");
    let acl = "ldp:/a/fcr:acl";
    let listed =
        site.ask(&site.admin, "GET", "/v1/entities/ldp:%2Fa%2Ffcr:acl/relationships?direction=out", &[], "");
    let parts = listed.json()["items"].clone();
    let (part, node) = (parts[0]["id"].clone(), parts[0]["to"].clone());
    assert!(part.is_string() && node.is_string(), "{listed:?}");
    let entity = |id: &str, type_name: &str| json!({"action": "create", "kind": "entity", "id": id, "type": type_name});
    let link = |id: &str, type_name: &str, from: &str, to: &str| {
        json!({"action": "create", "kind": "relationship", "id": id, "type": type_name, "from": from, "to": to,
               "properties": {"name": id}})
    };
    assert_eq!(commit(&site, &writer, &entity("mine", "ldp.Node")), 200);
    let forbidden = [
        entity("ldp:/b/fcr:acl", "ldp.Acl"),
        link("r1", "ldp.acl", "ldp:/b", "mine"),
        link("r2", "ldp.part", acl, "mine"),
        link("r3", "ldp.acl", "ldp:/b", acl),
        json!({"action": "update", "kind": "entity", "id": acl, "patch": {"x": 1}}),
        json!({"action": "update", "kind": "entity", "id": node, "patch": {"x": 1}}),
        json!({"action": "delete", "kind": "entity", "id": acl}),
        json!({"action": "delete", "kind": "entity", "id": node}),
        json!({"action": "delete", "kind": "relationship", "id": part}),
        json!({"action": "retype", "kind": "entity", "id": "mine", "type": "ldp.Acl"}),
    ];
    for operation in &forbidden {
        assert_eq!(commit(&site, &writer, operation), 403, "{operation}");
    }
    let dry = json!({"dryRun": true, "operations": [forbidden[0]]}).to_string();
    let json = [("content-type", "application/json")];
    assert_eq!(site.ask(&writer, "POST", "/v1/transactions", &json, &dry).status, 403);
    let line = json!({"entity": {"id": "ldp:/b/fcr:acl", "type": "ldp.Acl"}}).to_string();
    let lines = [("content-type", "application/x-ndjson")];
    let imported = site.ask(&writer, "POST", "/v1/import", &lines, &line);
    assert!(imported.body.contains("administer"), "{imported:?}");
    assert_eq!(site.status(&site.admin, "GET", "/v1/entities/ldp:%2Fb%2Ffcr:acl"), 404);
    // A writer may delete a resource with its ACL. Only an admin restores an ACL alone.
    assert_eq!(commit(&site, &site.admin, &forbidden[6]), 200);
    assert_eq!(site.read("/a"), 403);
    let restore = json!({"action": "restore", "kind": "entity", "id": acl});
    assert_eq!([&writer, &site.admin].map(|token| commit(&site, token, &restore)), [403, 200]);
    assert_eq!(site.read("/a"), 200);
    assert_eq!(commit(&site, &writer, &json!({"action": "delete", "kind": "entity", "id": "ldp:/a"})), 200);
}

#[test]
fn an_acl_that_is_taken_back_gives_nothing_any_more() {
    let site = Site::open();
    let writer = site.guarded.token("writer", &["--role", "write"]);
    site.put("/a", "");
    site.give("/a", "Read");
    let last = site.ask(&site.admin, "GET", "/a", &[], "").header("annals-position").unwrap().to_owned();
    assert_eq!(site.read("/a"), 200);
    let path = format!("/v1/records/{last}/take-back");
    let json = [("content-type", "application/json")];
    let take_back = |token: &str| site.ask(token, "POST", &path, &json, "{}").status;
    assert_eq!((take_back(&writer), site.read("/a")), (403, 200));
    assert_eq!((take_back(&site.admin), site.read("/a")), (200, 403));
    site.give("/a", "Read");
    assert_eq!(site.read("/a"), 200);
}

#[test]
fn an_acl_goes_with_its_resource_and_an_earlier_one_never_counts_again() {
    let site = Site::open();
    for refers in [false, true] {
        site.put("/a", "");
        if refers {
            // The resource leaves a placeholder.
            site.put("/from", &format!("<> <urn:to> <{}> .", site.iri("/a")));
        }
        site.give("/a", "Read");
        assert_eq!((site.read("/a"), site.status(&site.admin, "DELETE", "/a")), (200, 204));
        assert_eq!((site.read("/a"), site.status(&site.admin, "GET", "/a/fcr:acl")), (403, 410));
        assert_eq!(site.status(&site.admin, "DELETE", "/a/fcr:tombstone"), 204);
        if !refers {
            let history = site.ask(&site.admin, "GET", "/v1/entities/ldp:%2Fa%2Ffcr:acl/history", &[], "");
            assert_eq!(history.status, 404, "{history:?}");
        }
        site.put("/a", "");
        assert_eq!((site.read("/a"), site.status(&site.admin, "GET", "/a/fcr:acl")), (403, 404));
    }
    // One that was deleted alone comes back with what the new one says, and no more.
    site.give("/a", "Read");
    assert_eq!((site.status(&site.admin, "DELETE", "/a/fcr:acl"), site.read("/a")), (204, 403));
    assert_eq!(site.status(&site.admin, "DELETE", "/a/fcr:acl"), 404);
    site.put("/a/fcr:acl", "<#b> a acl:Authorization .");
    assert_eq!(site.read("/a"), 403);
    let shown = site.ask(&site.admin, "GET", "/a/fcr:acl", &[], "").body;
    assert!(shown.contains("#b") && !shown.contains(ADA), "{shown}");
    // The writer of a resource may delete it, although it may not write its ACL.
    let writer = site.guarded.token("writer", &["--role", "write"]);
    assert_eq!(site.status(&writer, "DELETE", "/a"), 204, "a placeholder stays for /from");
}

#[test]
fn acls_are_kept_over_a_restart_and_give_nothing_where_they_are_not_in_force() {
    let site = Site::open();
    site.put("/a", "");
    site.give("/a", "Read");
    assert_eq!(site.read("/a"), 200);
    let Site { guarded, admin, ada } = site;
    let tokens = guarded.file();
    let (folder, server) = (guarded.folder, guarded.server);
    server.terminate();
    assert!(server.ended_well());
    let repository = folder.path().join("repository");
    let start =
        |more: &[&str]| Server::start(&repository, &[&["--tokens", tokens.to_str().unwrap()], more].concat());
    let get = |server: &Server, token: &str, path: &str| {
        try_request(server.address, "GET", path, &[("authorization", &bearer(token))], None).unwrap().status
    };
    let again = start(&["--webac", "--webid-prefix", "https://people.example/"]);
    assert_eq!([get(&again, &ada, "/ldp/a"), get(&again, &admin, "/ldp/a/fcr:acl")], [200, 200]);
    again.terminate();
    assert!(again.ended_well());
    let without = start(&[]);
    assert_eq!([get(&without, &ada, "/ldp/a"), get(&without, &admin, "/ldp/a/fcr:acl")], [403, 404]);
    assert_eq!(get(&without, &admin, "/ldp/a"), 200);
}

#[test]
fn a_prefix_of_web_ids_needs_acls_and_an_iri() {
    for arguments in
        [&["--webid-prefix", "https://people.example/"][..], &["--webac", "--webid-prefix", "people/"]]
    {
        let done = annals(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(2) && text.contains("--web"), "{arguments:?}: {text}");
    }
}

#[test]
fn grants_that_write_change_no_acl() {
    let site = Site::open();
    let team = site.guarded.token("team", &["--role", "team"]);
    site.put("/a", "");
    site.give("/a", "Read");
    let listed =
        site.ask(&site.admin, "GET", "/v1/entities/ldp:%2Fa%2Ffcr:acl/relationships?direction=out", &[], "");
    let node = listed.json()["items"][0]["to"].clone();
    let acl = json!({"action": "update", "kind": "entity", "id": "ldp:/a/fcr:acl", "patch": {"x": 1}});
    let part = json!({"action": "update", "kind": "entity", "id": node, "patch": {"x": 1}});
    let new = json!({"action": "create", "kind": "entity", "id": "ldp:/b/fcr:acl", "type": "ldp.Acl"});
    let resource = json!({"action": "update", "kind": "entity", "id": "ldp:/a", "patch": {"x": 1}});
    // With sight of everything, and of nodes alone.
    for (search, expected) in [(None, [403, 403, 403, 200]), (Some("ldp.Node"), [404, 403, 403, 404])] {
        let mut properties = json!({"role": "team", "verbs": ["read", "create", "update", "delete"]});
        if let Some(search) = search {
            properties["where"] = search.into();
        }
        let grant = json!({"action": "create", "kind": "entity", "id": "grant", "type": "annals.Grant", "properties": properties});
        assert_eq!(commit(&site, &site.admin, &grant), 200);
        let found = [&acl, &part, &new, &resource].map(|operation| commit(&site, &team, operation));
        assert_eq!(found, expected, "{search:?}");
        let gone = json!({"action": "purge", "kind": "entity", "id": "grant"});
        assert_eq!(commit(&site, &site.admin, &gone), 200);
    }
    assert_eq!(site.read("/a"), 200);
}
