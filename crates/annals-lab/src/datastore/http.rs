//! Annals through the HTTP door of another process on this machine, over one connection that stays open.

use std::path::PathBuf;

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::content::{Content, List, Order, leaf};
use super::embedded;
use super::target::{Answer, Call, Keys, Store, Target, Whole, middle};
use crate::outcome::Outcome;
use crate::run::{Connection, Server, make_folder};

/// Limits for the largest transaction: one request with an operation for each entry.
const LIMITS: &[&str] = &[
    "--body-bytes-max",
    "268435456",
    "--bodies-bytes-max",
    "4294967296",
    "--answers-bytes-max",
    "1073741824",
    "--request-time-ms",
    "60000",
];

/// A client of `annals serve`.
pub struct Http {
    parent: Option<PathBuf>,
    count: u32,
    opened: Option<Opened>,
}

/// Order: the server ends before its folder goes.
struct Opened {
    connection: Connection,
    /// Position of the last receipt. A change that does nothing returns the same position.
    position: u64,
    _server: Server,
    _folder: TempDir,
}

impl Http {
    /// Repositories will lie in new folders in `parent`.
    pub fn new(parent: Option<PathBuf>) -> Http {
        Http { parent, count: 0, opened: None }
    }

    fn opened(&mut self) -> &mut Opened {
        self.opened.as_mut().expect("begin is called before anything else")
    }

    fn leaf_path(&self, keys: Keys) -> String {
        keys.leaf_path(middle(self.count)).replace(' ', "%20")
    }
}

impl Opened {
    /// Sends a change; a refusal is an answer.
    fn change(&mut self, method: &str, path: &str, body: &str) -> Outcome<Answer> {
        let status = self.connection.send(method, path, body)?;
        if status == 409 {
            return Ok(Answer::Refused(String::from_utf8_lossy(&self.connection.body).into_owned()));
        }
        self.connection.check(status)?;
        let receipt: Json = serde_json::from_slice(&self.connection.body)?;
        let position = receipt["position"].as_u64().ok_or("a receipt without position")?;
        let before = std::mem::replace(&mut self.position, position);
        Ok(Answer::Changed(position > before))
    }

    /// Reads; false if there is nothing.
    fn read(&mut self, path: &str) -> Outcome<bool> {
        let status = self.connection.send("GET", path, "")?;
        if status == 404 {
            return Ok(false);
        }
        self.connection.check(status).map(|()| true)
    }
}

impl Target for Http {
    fn title(&self) -> &'static str {
        "Annals, over HTTP"
    }

    fn lacks(&self, call: Call) -> Option<&'static str> {
        match call {
            Call::Subscribe(_) => Some("no subscribers over HTTP yet"),
            Call::Provide
            | Call::All(Store::Operational)
            | Call::SetAll(Store::Operational, ..)
            | Call::SetLeaf(Store::Operational, _)
            | Call::RemoveLeaf(Store::Operational)
            | Call::RemoveEntries(Store::Operational, _) => Some("no operational view over HTTP yet"),
            _ => None,
        }
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn unfair(&self) -> &'static [&'static str] {
        embedded::UNFAIR
    }

    fn begin(&mut self, count: u32, _: bool) -> Outcome<()> {
        self.opened = None;
        let folder = make_folder(self.parent.as_deref())?;
        let server = Server::annals_with(&folder.path().join("repository"), LIMITS)?;
        let connection = Connection::connect(server.address)?;
        let mut opened = Opened { connection, position: 0, _server: server, _folder: folder };
        opened.change("POST", "/v1/types", &types().to_string())?;
        self.count = count;
        self.opened = Some(opened);
        Ok(())
    }

    fn call(&mut self, call: Call) -> Outcome<Answer> {
        let count = self.count;
        let leaf_path = |keys| self.leaf_path(keys);
        match call {
            Call::Find(keys) => {
                let path = format!("/v1/tree-find{}", leaf_path(keys));
                let opened = self.opened();
                opened.read(&path)?;
                let found: Json = serde_json::from_slice(&opened.connection.body)?;
                let value = found["items"].get(0).and_then(|item| item["value"].as_str());
                Ok(Answer::Leaf(value.map(str::to_owned)))
            }
            Call::Get(keys) => {
                let path = format!("/v1/tree{}", leaf_path(keys));
                let opened = self.opened();
                let is_there = opened.read(&path)?;
                let value = is_there.then(|| serde_json::from_slice(&opened.connection.body)).transpose()?;
                Ok(Answer::Leaf(value))
            }
            Call::All(_) => {
                let opened = self.opened();
                let is_there = opened.read("/v1/tree/cont")?;
                let text = Text(std::mem::take(&mut opened.connection.body));
                Ok(Answer::Whole(is_there.then(|| Box::new(text) as Box<dyn Whole>)))
            }
            Call::Merge(list) => {
                let body = serde_json::to_string(&Content::of(list, Order::Up, count))?;
                self.opened().change("PATCH", "/v1/tree/cont", &body)
            }
            Call::SetAll(_, list, order) => {
                let body = sets(list, order, count);
                self.opened().change("POST", "/v1/transactions", &body)
            }
            Call::CreateLeaf(value) => {
                let path = format!("/v1/tree{}", leaf_path(Keys::Apart));
                self.opened().change("POST", &path, &json!(value).to_string())
            }
            Call::SetLeaf(_, value) => {
                let path = format!("/v1/tree{}", leaf_path(Keys::Apart));
                self.opened().change("PUT", &path, &json!(value).to_string())
            }
            Call::RemoveLeaf(_) => {
                let path = format!("/v1/tree{}?missing=ok", leaf_path(Keys::Apart));
                self.opened().change("DELETE", &path, "")
            }
            Call::RemoveEntries(_, list) => {
                let path = format!("/v1/tree{}?missing=ok", list.path());
                self.opened().change("DELETE", &path, "")
            }
            Call::RemoveContainer => self.opened().change("DELETE", "/v1/tree/cont?missing=ok", ""),
            Call::Provide | Call::Subscribe(_) | Call::Hear | Call::Unsubscribe => {
                Err(format!("{call:?}: it is lacking").into())
            }
        }
    }
}

/// The types of the page's model.
fn types() -> Json {
    let key = |name, value_type| json!({ "name": name, "type": value_type, "key": true });
    let text = json!({ "name": "l", "type": "string" });
    json!({ "types": [
        {
            "kind": "entity", "name": "lst",
            "attributes": [key("k1", "integer"), key("k2", "string"), text.clone()],
        },
        { "kind": "entity", "name": "usr-lst", "attributes": [key("k", "integer"), text] },
        { "kind": "relationship", "name": "contains", "containment": {} },
        {
            "kind": "relationship", "name": "orders", "containment": { "ordered": true },
            "from": {}, "to": { "type": "usr-lst", "many": true },
        },
    ]})
}

/// One transaction with an operation for each entry.
fn sets(list: List, order: Order, count: u32) -> String {
    let operation = |number| {
        let (path, value) = (list.leaf_path(number), leaf(number));
        format!(r#"{{"action":"merge-tree","path":"{path}","value":"{value}"}}"#)
    };
    let operations: Vec<String> = order.numbers(count).map(operation).collect();
    format!(r#"{{"operations":[{}]}}"#, operations.join(","))
}

/// The body of an answer.
struct Text(Vec<u8>);

impl Whole for Text {
    fn content(&self) -> Outcome<Content> {
        Ok(serde_json::from_slice(&self.0)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_sets_the_leaf_of_every_entry_in_order() {
        let sent: Json = serde_json::from_str(&sets(List::Ordered, Order::Down, 2)).unwrap();
        let operation =
            |path: &str, value: &str| json!({ "action": "merge-tree", "path": path, "value": value });
        let expected = [operation("/cont/usr-lst[k='1']/l", "l1"), operation("/cont/usr-lst[k='0']/l", "l0")];
        assert_eq!(sent, json!({ "operations": expected }));
    }
}
