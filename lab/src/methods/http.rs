//! Calls the HTTP door of another process, over one connection that stays open.

use std::net::SocketAddr;
use std::time::Instant as Clock;

use annals::{Id, InstanceId, Instant, Value};
use annals_json::value_from_json;
use serde_json::{Value as Json, json};

use super::call::{Answer, Call, Looked, Target, Timed};
use super::operation::operation;
use crate::outcome::Outcome;
use crate::run::{Client, Place, Request};

/// A client of `annals serve`.
pub struct Http {
    client: Client,
}

impl Http {
    /// Connects with the first request.
    pub fn new(address: SocketAddr) -> Http {
        Http { client: Client::new(&Place::at(address)) }
    }

    /// Sends all types in one transaction.
    pub fn define_types(&mut self, lines: &str) -> Outcome<()> {
        let types = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Json>, _>>()?;
        let body = json!({ "types": types }).to_string();
        self.client.send(&Request::json("POST", "/v1/types", &body)).map(drop)
    }
}

impl Target for Http {
    fn call(&mut self, call: Call, then: Option<Instant>) -> Outcome<Timed> {
        let request = request(&call, then);
        let start = Clock::now();
        let status = self.client.ask(&request)?.status;
        let elapsed = start.elapsed();
        let body = &self.client.body;
        let answer = match status {
            200..300 => Ok(answer(&call, &serde_json::from_slice(body)?)?),
            // For these calls a missing instance is an answer, as with the engine.
            404 | 410 if matches!(call, Call::Known(_) | Call::Summary(_) | Call::Get(_)) => {
                Ok(Answer::default())
            }
            _ => Err(String::from_utf8_lossy(body).into_owned()),
        };
        Ok(Timed { answer, elapsed })
    }

    fn load(&mut self, calls: Vec<Call>) -> Outcome<()> {
        let operations: Vec<Json> = calls.iter().map(operation).collect();
        let body = json!({ "always": true, "operations": operations }).to_string();
        self.client.send(&Request::json("POST", "/v1/transactions", &body)).map(drop)
    }

    fn look(&mut self, id: &InstanceId, then: Option<Instant>) -> Outcome<Option<Looked>> {
        let request = request(&Call::Get(id.clone()), then);
        let status = self.client.ask(&request)?.status;
        if status == 404 || status == 410 {
            return Ok(None);
        }
        self.client.check(status)?;
        let json: Json = serde_json::from_slice(&self.client.body)?;
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        let names = json["classifications"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
        let mut found: Vec<(String, Value)> = Vec::new();
        for (name, one) in json["properties"].as_object().into_iter().flatten() {
            found.push((name.clone(), value_from_json(one)?));
        }
        Ok(Some(Looked {
            type_name: text("type"),
            version: json["version"].as_u64().unwrap_or_default(),
            status: text("status"),
            home: json["home"].as_str().map(str::to_owned),
            properties: found,
            classifications: names.collect(),
        }))
    }
}

fn request(call: &Call, then: Option<Instant>) -> Request {
    let get = |path: String| {
        let sign = if path.contains('?') { '&' } else { '?' };
        let path = then.map_or(path.clone(), |then| format!("{path}{sign}at={then}"));
        Request::json("GET", &path, "")
    };
    match call {
        Call::Known(id) | Call::Get(id) => get(path(id)),
        Call::Summary(id) => get(format!("/v1/entities/{id}/summary")),
        Call::Versions(id, limit) => get(format!("{}/history?content=true&limit={limit}", path(id))),
        Call::RelationshipsOf(id, limit) => get(format!("/v1/entities/{id}/relationships?limit={limit}")),
        Call::Neighborhood(id, depth) => {
            get(format!("/v1/entities/{id}/neighborhood?direction=both&depthMax={depth}"))
        }
        Call::Related(id, limit) => get(format!("/v1/entities/{id}/related?direction=both&limit={limit}")),
        Call::Linking(from, to) => get(format!("/v1/linking?direction=both&from={from}&to={to}")),
        Call::Find(kind, find) => {
            let mut body = json!({ "kind": kind.name(), "q": find.to_string() });
            if let Some(then) = then {
                body["at"] = then.to_string().into();
            }
            Request::json("POST", "/v1/find", &body.to_string())
        }
        write => {
            let body = json!({ "always": true, "operations": [operation(write)] }).to_string();
            Request::json("POST", "/v1/transactions", &body)
        }
    }
}

fn path(id: &InstanceId) -> String {
    match id {
        InstanceId::Entity(id) => format!("/v1/entities/{id}"),
        InstanceId::Relationship(id) => format!("/v1/relationships/{id}"),
    }
}

/// The answer in the body.
fn answer(call: &Call, body: &Json) -> Outcome<Answer> {
    // The id of an element of a list: the element itself, its own, or that of its entity.
    let id = |item: &Json| -> Outcome<Id> {
        let found = [item, &item["id"], &item["entity"]["id"]].into_iter().find_map(Json::as_str);
        Ok(Id::new(found.ok_or("an item without an id: expected one")?)?)
    };
    let list = |name: &str| body[name].as_array().map_or(&[][..], Vec::as_slice);
    let ids = |name: &str| list(name).iter().map(id).collect::<Outcome<Vec<Id>>>();
    let mut found = Answer { next: body["next"].as_str().map(str::to_owned), ..Answer::default() };
    match call {
        Call::Known(_) | Call::Get(_) | Call::Summary(_) => found.ids = vec![id(body)?],
        Call::Versions(id, _) => found.ids = vec![id.id().clone(); list("items").len()],
        Call::Neighborhood(..) | Call::Linking(..) => {
            found.ids = ids("entities")?;
            found.elements = found.ids.len() + list("relationships").len();
            return Ok(found);
        }
        call if call.is_write() => {
            found.ids = ids("ids")?;
            found.instant = body["instant"].as_str().map(str::parse).transpose()?;
        }
        _ => found.ids = ids("items")?,
    }
    found.elements = found.ids.len();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_as_of_an_instant_where_one_is_given() {
        let id = InstanceId::Entity(Id::new("a").unwrap());
        let then: Instant = "2026-01-01T00:00:00Z".parse().unwrap();
        let get = request(&Call::Get(id.clone()), Some(then));
        assert_eq!((get.method, get.path.as_str()), ("GET", "/v1/entities/a?at=2026-01-01T00:00:00Z"));
        let history = request(&Call::Versions(id, 50), Some(then));
        assert_eq!(history.path, "/v1/entities/a/history?content=true&limit=50&at=2026-01-01T00:00:00Z");
    }

    #[test]
    fn ids_are_read_wherever_they_stand() {
        let body = json!({ "items": ["a", { "id": "b" }, { "entity": { "id": "c" } }], "next": "n" });
        let call = Call::Related(Id::new("a").unwrap(), 9);
        let found = answer(&call, &body).unwrap();
        assert_eq!(found.ids, ["a", "b", "c"].map(|id| Id::new(id).unwrap()));
        assert_eq!((found.next.as_deref(), found.elements), (Some("n"), 3));
        assert!(answer(&call, &json!({ "items": [{ "version": 1 }] })).is_err());
    }
}
