//! Parameters of leases and compactions. Neither makes a record, so their author is only required or not.

use serde_json::{Value as Json, json};

use super::door::{Door, Request};

pub fn check(door: &mut Door) {
    door.on_another(&["--require-author"], |door| {
        let ada = |request: Request| request.header("annals-author", "ada");
        let open = |id: &str| Request::tell("POST", "/v1/leases", json!({ "name": id, "seconds": 60 }));
        let at = |id: &str, rest: &str| format!("/v1/leases/{id}{rest}");
        let push = json!({ "operations": [{ "action": "merge-tree", "path": "/c", "item": { "n": 1 } }] });
        for (rest, method, body, status) in [
            ("", "DELETE", Json::Null, 204),
            ("/changes", "POST", push, 200),
            ("/renew", "POST", json!({ "seconds": 50 }), 200),
        ] {
            let id = door.id();
            door.send(&ada(open(&id)));
            let request = Request::tell(method, &at(&id, rest), body);
            let late = door.send_with(&ada(request.clone()), "annals-wait-position", "999999999");
            door.note(&request, "annals-wait-position", late.status == 503, &[&late]);
            door.statuses(&request, "annals-author", "ada", [400, status]);
        }
        let request = open("new");
        let late = door.send_with(&ada(request.clone()), "annals-wait-position", "999999999");
        door.note(&request, "annals-wait-position", late.status == 503, &[&late]);
        door.statuses(&request, "annals-author", "ada", [400, 201]);
        let compaction = Request::tell("POST", "/v1/compactions", Json::Null);
        door.statuses(&compaction, "annals-author", "ada", [400, 200]);
    });
}
