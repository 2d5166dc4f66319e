//! Annals through the HTTP door of another process on this machine, over one connection that stays open, and one more for
//! each subscriber.

mod events;

use std::path::PathBuf;

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::content::{Content, List, Order, leaf};
use super::subscribers::Subscribers;
use super::target::{Answer, Call, Keys, Store, Target, Whole, middle};
use crate::outcome::Outcome;
use crate::run::{Client, Place, Request, Server, make_folder};
use events::feeds;

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

/// The name of the lease, and of the root of the state for subscribers.
const LEASE: &str = "lab";
/// How long it lasts: the most that the server takes. Units: seconds.
const LEASE_S: u32 = 86_400;

/// A client of `annals serve`.
pub struct Http {
    parent: PathBuf,
    count: u32,
    opened: Option<Opened>,
}

/// Order: the server ends before its folder goes.
struct Opened {
    subscribers: Option<Subscribers>,
    client: Client,
    /// The position that the last answer named.
    heard: Option<u64>,
    /// Position of the last receipt. A change that does nothing returns the same position.
    position: u64,
    server: Server,
    _folder: TempDir,
}

impl Http {
    /// Repositories will lie in new folders in `parent`.
    pub fn new(parent: PathBuf) -> Http {
        Http { parent, count: 0, opened: None }
    }

    fn opened(&mut self) -> &mut Opened {
        self.opened.as_mut().expect("begin is called before anything else")
    }
}

impl Opened {
    /// Returns the status.
    fn send(&mut self, method: &'static str, path: &str, body: &str) -> Outcome<u16> {
        let answer = self.client.ask(&Request::json(method, path, body))?;
        self.heard = answer.position;
        Ok(answer.status)
    }

    fn heard(&self) -> Outcome<u64> {
        Ok(self.heard.ok_or("expected the header Annals-Position, found none")?)
    }

    /// Sends a change; a refusal is an answer.
    fn change(&mut self, method: &'static str, path: &str, body: &str) -> Outcome<Answer> {
        let status = self.send(method, path, body)?;
        if status == 409 {
            return Ok(Answer::Refused(String::from_utf8_lossy(&self.client.body).into_owned()));
        }
        self.client.check(status)?;
        let receipt: Json = serde_json::from_slice(&self.client.body)?;
        let position = receipt["position"].as_u64().ok_or("a receipt without position")?;
        let before = std::mem::replace(&mut self.position, position);
        Ok(Answer::Changed(position > before))
    }

    /// Pushes operations under the lease. The answer does not say whether they changed anything.
    fn push(&mut self, operations: &str) -> Outcome<Answer> {
        let status = match self.subscribers {
            None => self.send("POST", &format!("/v1/leases/{LEASE}/changes"), operations)?,
            // Subscribers follow the repository, so the state is in a tree of its own there.
            Some(_) => {
                let mut body: Json = serde_json::from_str(operations)?;
                let operations = body["operations"].as_array_mut().into_iter().flatten();
                operations.for_each(|operation| operation["root"] = LEASE.into());
                self.send("POST", "/v1/transactions", &body.to_string())?
            }
        };
        self.client.check(status).map(|()| Answer::Done)
    }

    /// The leaf that a path of find finds.
    fn find(&mut self, leaf: &str) -> Outcome<Answer> {
        self.read(&format!("/v1/tree-find{leaf}"))?;
        let found: Json = serde_json::from_slice(&self.client.body)?;
        let value = found["items"].get(0).and_then(|item| item["value"].as_str());
        Ok(Answer::Leaf(value.map(str::to_owned)))
    }

    fn get(&mut self, leaf: &str) -> Outcome<Answer> {
        let is_there = self.read(&format!("/v1/tree{leaf}"))?;
        Ok(Answer::Leaf(is_there.then(|| serde_json::from_slice(&self.client.body)).transpose()?))
    }

    fn push_one(&mut self, operation: Json) -> Outcome<Answer> {
        self.push(&json!({ "operations": [operation] }).to_string())
    }

    fn open_lease(&mut self) -> Outcome<()> {
        let lease = json!({ "name": LEASE, "seconds": LEASE_S });
        let status = self.send("POST", "/v1/leases", &lease.to_string())?;
        self.client.check(status)
    }

    /// Reads; false if there is nothing.
    fn read(&mut self, path: &str) -> Outcome<bool> {
        let status = self.send("GET", path, "")?;
        if status == 404 {
            return Ok(false);
        }
        self.client.check(status).map(|()| true)
    }
}

impl Target for Http {
    fn lacks(&self, call: Call) -> Option<&'static str> {
        match call {
            Call::Provide => Some("a provider is a function in the process"),
            _ => None,
        }
    }

    fn begin(&mut self, count: u32, _: bool) -> Outcome<()> {
        self.opened = None;
        let folder = make_folder(Some(&self.parent))?;
        let server = Server::annals_with(&folder.path().join("repository"), LIMITS)?;
        let client = Client::new(&Place::at(server.address));
        let mut opened =
            Opened { subscribers: None, client, heard: None, position: 0, server, _folder: folder };
        opened.change("POST", "/v1/types", &types().to_string())?;
        opened.open_lease()?;
        self.count = count;
        self.opened = Some(opened);
        Ok(())
    }

    fn call(&mut self, call: Call) -> Outcome<Answer> {
        let count = self.count;
        let leaf_path = |keys: Keys| keys.leaf_path(middle(count)).replace(' ', "%20");
        match call {
            Call::Find(keys) => self.opened().find(&leaf_path(keys)),
            Call::Get(keys) => self.opened().get(&leaf_path(keys)),
            Call::All(store) => {
                let opened = self.opened();
                let is_there = opened.read(match store {
                    Store::Running => "/v1/tree/cont",
                    Store::Operational => "/v1/operational/cont",
                })?;
                let text = Text(std::mem::take(&mut opened.client.body));
                Ok(Answer::Whole(is_there.then(|| Box::new(text) as Box<dyn Whole>)))
            }
            Call::Merge(list) => {
                let body = serde_json::to_string(&Content::of(list, Order::Up, count))?;
                self.opened().change("PATCH", "/v1/tree/cont", &body)
            }
            Call::SetAll(store, list, order) => {
                let body = sets(list, order, count);
                match store {
                    Store::Running => self.opened().change("POST", "/v1/transactions", &body),
                    Store::Operational => self.opened().push(&body),
                }
            }
            Call::CreateLeaf(value) => {
                let path = format!("/v1/tree{}", leaf_path(Keys::Apart));
                self.opened().change("POST", &path, &json!(value).to_string())
            }
            Call::SetLeaf(Store::Operational, value) => {
                let path = Keys::Apart.leaf_path(middle(count));
                self.opened().push_one(json!({ "action": "put-tree", "path": path, "value": value }))
            }
            Call::RemoveLeaf(Store::Operational) => {
                let path = Keys::Apart.leaf_path(middle(count));
                self.opened().push_one(json!({ "action": "remove-tree", "path": path }))
            }
            Call::RemoveEntries(Store::Operational, list) => {
                self.opened().push_one(json!({ "action": "remove-tree", "path": list.path() }))
            }
            Call::SetLeaf(Store::Running, value) => {
                let path = format!("/v1/tree{}", leaf_path(Keys::Apart));
                self.opened().change("PUT", &path, &json!(value).to_string())
            }
            Call::RemoveLeaf(Store::Running) => {
                let path = format!("/v1/tree{}?missing=ok", leaf_path(Keys::Apart));
                self.opened().change("DELETE", &path, "")
            }
            Call::RemoveEntries(Store::Running, list) => {
                let path = format!("/v1/tree{}?missing=ok", list.path());
                self.opened().change("DELETE", &path, "")
            }
            Call::RemoveContainer => self.opened().change("DELETE", "/v1/tree/cont?missing=ok", ""),
            Call::Subscribe(count) => {
                let opened = self.opened();
                let position = opened.heard()?;
                opened.subscribers = Some(Subscribers::start(feeds(opened.server.address, position, count)?));
                Ok(Answer::Done)
            }
            Call::Hear => {
                let opened = self.opened();
                let position = opened.heard()?;
                let subscribers = opened.subscribers.as_mut().ok_or("there are no subscribers")?;
                subscribers.wait(position.into()).map(|()| Answer::Done)
            }
            Call::Unsubscribe => {
                let subscribers = self.opened().subscribers.take().ok_or("there are no subscribers")?;
                Ok(Answer::Heard(subscribers.end()?))
            }
            Call::Provide => Err(format!("{call:?}: it is lacking").into()),
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
