//! Scenarios through HTTP, against the real binary.

use std::path::Path;

use annals_json::GROUPING;
use annals_json::find::FIELDS;
use percent_encoding::{AsciiSet, CONTROLS};
use serde_json::{Value as Json, json};

use crate::support::{Answer, Server};
use crate::{Door, Outcome, WALK, is_tree_change};

/// A server of its own.
pub struct HttpDoor(Server);

impl HttpDoor {
    /// Starts it.
    pub fn open(folder: &Path) -> HttpDoor {
        HttpDoor(Server::start(&folder.join("repository"), &[]))
    }
}

impl HttpDoor {
    fn change_tree(&self, step: &Json) -> Outcome {
        let path = tree_path("tree", step);
        let content = step.get("item").or(step.get("value")).cloned().unwrap_or_else(|| json!({}));
        let at = |more: &str| format!("{path}?{}{more}", query(step, &["insert", "sibling", "root"]));
        outcome(match step["do"].as_str().unwrap() {
            "put-tree" => self.0.send("PUT", &at(""), &content),
            "replace-tree" => self.0.send("PUT", &at("&missing=refuse"), &content),
            "merge-tree" => self.0.send("PATCH", &at(""), &content),
            "create-tree" | "insert-tree" => self.0.send("POST", &at(""), &content),
            "delete-tree" => self.0.request("DELETE", &at(""), &[], None),
            "remove-tree" => self.0.request("DELETE", &at("&missing=ok"), &[], None),
            "move-tree" => {
                let body = members(step, &["from", "to", "insert", "sibling", "root"]);
                self.0.send("POST", "/v1/tree-move", &body)
            }
            "copy-tree" => self.0.send("POST", "/v1/tree-copy", &members(step, &["from", "to", "root"])),
            verb @ ("revert-tree" | "restore-tree") => {
                let body = members(step, &["path", "root", "atPosition", "at", "validAt"]);
                let verb = verb.trim_end_matches("-tree");
                self.0.send("POST", &format!("/v1/tree-{verb}"), &body)
            }
            other => panic!("unknown step {other:?}"),
        })
    }
}

/// The path of a tree behind that of the endpoint, as it is but for what a request cannot hold.
fn tree_path(endpoint: &str, step: &Json) -> String {
    const UNFIT: &AsciiSet =
        &CONTROLS.add(b' ').add(b'<').add(b'>').add(b'%').add(b'?').add(b'#').add(b'"').add(b'`');
    let path = step["path"].as_str().unwrap_or_default();
    format!("/v1/{endpoint}{}", percent_encoding::utf8_percent_encode(path, UNFIT))
}

impl Door for HttpDoor {
    fn perform(&mut self, step: &Json) -> Outcome {
        let text = |name: &str| step[name].as_str().unwrap_or_default();
        let collection = if step["kind"] == "relationship" { "relationships" } else { "entities" };
        let instance = format!("/v1/{collection}/{}", encoded(text("id")));
        let reading = ["atPosition", "at", "validAt"];
        let get = |path: &str, names: &[&str]| {
            outcome(self.0.get(&format!("{path}?{}", query(step, &[names, &reading].concat()))))
        };
        match text("do") {
            "commit" => outcome(self.0.send("POST", "/v1/transactions", &members(step, COMMIT))),
            "get" => match get(&instance, &[]) {
                Err(kind) if ["not-found", "deleted"].contains(&kind.as_str()) => Ok(Json::Null),
                other => other,
            },
            "version" => get(&format!("{instance}/versions/{}", step["number"]), &[]),
            "history" => {
                let names = ["from", "to", "oldestFirst", "content", "limit", "after"];
                get(&format!("{instance}/history"), &names)
            }
            "difference" => get(&format!("{instance}/diff"), &["from", "to"]),
            "changes" => outcome(self.0.get(&format!("/v1/diff?{}", query(step, &["from", "to"])))),
            "neighbors" => get(&format!("{instance}/neighbors"), &["direction", "type", "limit", "after"]),
            "degree" => get(&format!("{instance}/degree"), &["direction", "type"]),
            "reach" => get(&format!("{instance}/reach"), WALK),
            "groups" => {
                let names = [WALK, &["groupBy", "limit"]].concat();
                get(&format!("{instance}/reach/groups"), &names)
            }
            "path" => get("/v1/path", &[WALK, &["from", "to"]].concat()),
            "relationships" => get(
                &format!("{instance}/relationships"),
                &["direction", "types", "statuses", "orderBy", "skip", "limit", "after", "count"],
            ),
            "neighborhood" => get(&format!("{instance}/neighborhood"), WALK),
            "related" => {
                let names = [WALK, &["orderBy", "limit", "after", "count"]].concat();
                get(&format!("{instance}/related"), &names)
            }
            "linking" => get("/v1/linking", &[WALK, &["from", "to"]].concat()),
            "paths" => get("/v1/paths", &[WALK, &["from", "to", "limit", "weight"]].concat()),
            "shared" => get("/v1/shared", &[WALK, &["from", "to"]].concat()),
            "types" => get("/v1/types", &["typeKind", "externalId"]),
            "verify-type" => {
                let path = format!("/v1/types/verify?{}", query(step, &reading));
                outcome(self.0.send("POST", &path, &step["definition"]))
            }
            "find" => outcome(self.0.send("POST", "/v1/find", &find(step))),
            "count" => outcome(self.0.send("POST", "/v1/count", &find(step))),
            "group" => outcome(self.0.send("POST", "/v1/groups", &grouped(step))),
            "explain" => outcome(self.0.send("POST", "/v1/explain", &find(step))),
            "get-tree" => {
                let path = tree_path("tree", step);
                match get(&path, &["depth", "ids", "root"]) {
                    Err(kind) if kind == "not-found" => Ok(Json::Null),
                    other => other.map(|found| json!({ "tree": found })),
                }
            }
            "list-tree" => get(&tree_path("tree-list", step), &["limit", "after", "back", "count", "root"]),
            "find-tree" => get(&tree_path("tree-find", step), &["limit", "root"]),
            "diff-tree" => {
                let path = tree_path("tree-diff", step);
                outcome(self.0.get(&format!("{path}?{}", query(step, DIFFERENCE))))
            }
            "explain-tree" => outcome(self.0.get(&tree_path("tree-explain", step))),
            verb if is_tree_change(verb) => self.change_tree(step),
            other => panic!("unknown step {other:?}"),
        }
    }
}

const COMMIT: &[&str] = &["author", "message", "validFrom", "dryRun", "operations"];
const DIFFERENCE: &[&str] =
    &["from", "fromPosition", "fromValidAt", "to", "toPosition", "toValidAt", "root", "limit", "after"];
const FIND_AS_OF: [&str; 4] = ["kind", "atPosition", "at", "validAt"];

fn grouped(step: &Json) -> Json {
    members(step, &[&FIELDS[..], &FIND_AS_OF, &GROUPING].concat())
}

fn find(step: &Json) -> Json {
    members(step, &[&FIELDS[..], &FIND_AS_OF].concat())
}

fn members(step: &Json, names: &[&str]) -> Json {
    let known = |name: &&str| Some(((*name).to_owned(), step.get(*name)?.clone()));
    Json::Object(names.iter().filter_map(known).collect())
}

fn query(step: &Json, names: &[&str]) -> String {
    let pair = |name: &&str| {
        let values = match step.get(*name)? {
            Json::Array(values) => values.clone(),
            value => vec![value.clone()],
        };
        let name = match *name {
            "types" => "type",
            "entityTypes" => "entityType",
            "statuses" => "status",
            "typeKind" => "kind",
            name => name,
        };
        let one = |value: &Json| match value {
            Json::String(text) => format!("{name}={}", encoded(text)),
            other => format!("{name}={other}"),
        };
        Some(values.iter().map(one).collect::<Vec<_>>().join("&"))
    };
    names.iter().filter_map(pair).collect::<Vec<_>>().join("&")
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn outcome(answer: Answer) -> Outcome {
    match answer.status {
        200..300 => Ok(answer.json()),
        _ => Err(answer.problem()),
    }
}
