//! A peer of the suite: the instances as documents in XTDB, by an adapter in a process of its own, which takes the time
//! of each call.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use annals::{Id, InstanceId, Instant, TypeKind};
use annals_json::value_from_json;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::archive::{Archive, EntityType};
use super::call::{Answer, Call, Looked, Target, Timed};
use super::datalog::Query;
use super::operation::operation;
use crate::harness::{self, Cell, Kind, Peer, System, TargetRecord};
use crate::outcome::Outcome;
use crate::threads::Opened;

/// Each graph query walks over most of the instances, one Datalog query a step: from all entities that would take days.
const STARTS_MAX: usize = 50;

/// The target.
pub const XTDB: harness::Target = harness::Target {
    name: "xtdb-documents",
    title: "Documents in XTDB 1 on RocksDB, synced",
    kind: Kind::Peer,
    peer: Some(Peer::Scripts { folder: "jvm", name: "xtdb-documents" }),
};

/// The adapter with one repository.
pub struct Documents {
    adapter: Box<dyn System>,
    deadline: Clock,
    /// True if a call was not made, or not answered, because the time of the cell was over.
    pub is_over: bool,
}

/// The answer to a call.
#[derive(Deserialize)]
struct Reply {
    nanoseconds: u64,
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    elements: usize,
    #[serde(default)]
    more: bool,
    instant: Option<String>,
    refused: Option<String>,
}

/// An instance as the adapter describes it.
#[derive(Deserialize)]
struct Description {
    #[serde(rename = "type")]
    type_name: String,
    version: u64,
    status: String,
    home: Option<String>,
    properties: serde_json::Map<String, Json>,
    classifications: Vec<String>,
}

impl Documents {
    /// Starts the adapter of the cell with an empty repository. No call is made after `deadline`.
    ///
    /// Shape: also what it says of itself.
    pub fn open(
        cell: &Cell,
        archive: &Archive,
        folder: &Path,
        deadline: Clock,
    ) -> Outcome<(Documents, TargetRecord)> {
        let mut documents = Documents { adapter: cell.adapter()?, deadline, is_over: false };
        let request =
            json!({ "do": "open", "folder": std::path::absolute(folder)?, "types": types(archive) });
        let found: Opened = serde_json::from_value(documents.ask(&request)?)?;
        Ok((documents, found.record(None)))
    }

    fn ask(&mut self, request: &Json) -> Outcome<Json> {
        let left = self.deadline.saturating_duration_since(Clock::now());
        let answer = match left {
            Duration::ZERO => Err("the time of the cell is over".into()),
            left => self.adapter.ask(request, left),
        };
        self.is_over |= answer.is_err() && Clock::now() >= self.deadline;
        answer
    }

    fn write(&mut self, calls: &[Call]) -> Outcome<Reply> {
        let operations: Vec<Json> = calls.iter().map(operation).collect();
        Ok(serde_json::from_value(self.ask(&json!({ "do": "write", "operations": operations }))?)?)
    }
}

impl Target for Documents {
    fn call(&mut self, call: Call, then: Option<Instant>) -> Outcome<Timed> {
        let mut offset = 0;
        let reply = if call.is_write() {
            self.write(std::slice::from_ref(&call))?
        } else {
            let mut request = read(&call)?;
            offset = request["skip"].as_u64().unwrap_or(0) + request["limit"].as_u64().unwrap_or(0);
            if let Some(then) = then {
                request["at"] = then.to_string().into();
            }
            serde_json::from_value(self.ask(&request)?)?
        };
        let elapsed = Duration::from_nanos(reply.nanoseconds);
        if let Some(text) = reply.refused {
            return Ok(Timed { answer: Err(text), elapsed });
        }
        let ids = reply.ids.iter().map(|id| Ok(Id::new(id)?)).collect::<Outcome<_>>()?;
        let instant = reply.instant.map(|text| text.parse()).transpose()?;
        let next = reply.more.then(|| offset.to_string());
        Ok(Timed { answer: Ok(Answer { ids, next, elements: reply.elements, instant }), elapsed })
    }

    fn load(&mut self, calls: Vec<Call>) -> Outcome<()> {
        match self.write(&calls)?.refused {
            Some(text) => Err(text.into()),
            None => Ok(()),
        }
    }

    fn starts_max(&self) -> usize {
        STARTS_MAX
    }

    fn lacks_hubs(&self) -> Option<&'static str> {
        Some("XTDB has not indexed the eviction of 10,000 documents after two minutes")
    }

    fn look(&mut self, id: &InstanceId, then: Option<Instant>) -> Outcome<Option<Looked>> {
        let mut request = json!({ "do": "look", "id": id.id().to_string() });
        if let Some(then) = then {
            request["at"] = then.to_string().into();
        }
        let found = self.ask(&request)?;
        if found.get("missing").is_some() {
            return Ok(None);
        }
        let found: Description = serde_json::from_value(found)?;
        let properties = found.properties.iter().map(|(name, one)| Ok((name.clone(), value_from_json(one)?)));
        Ok(Some(Looked {
            type_name: found.type_name,
            version: found.version,
            status: found.status,
            home: found.home,
            properties: properties.collect::<Outcome<_>>()?,
            classifications: found.classifications,
        }))
    }
}

/// The request for a read.
fn read(call: &Call) -> Outcome<Json> {
    Ok(match call {
        Call::Known(id) | Call::Get(id) => json!({ "do": "get", "id": id.id().to_string() }),
        Call::Summary(id) => json!({ "do": "get", "id": id.to_string() }),
        Call::Versions(id, limit) => json!({ "do": "versions", "id": id.id().to_string(), "limit": limit }),
        Call::RelationshipsOf(id, limit) => {
            json!({ "do": "relationships-of", "id": id.to_string(), "limit": limit })
        }
        Call::Neighborhood(id, depth) => {
            json!({ "do": "neighborhood", "id": id.to_string(), "depth": depth })
        }
        Call::Related(id, limit) => json!({ "do": "related", "id": id.to_string(), "limit": limit }),
        Call::Linking(from, to) => json!({ "do": "linking", "id": from.to_string(), "to": to.to_string() }),
        Call::Find(kind, find) => {
            let query = Query::of(*kind, find)?;
            let skip: usize = find.after.as_deref().unwrap_or("0").parse()?;
            json!({
                "do": "find", "query": query.text(), "arguments": query.arguments, "skip": skip, "limit": find.limit,
            })
        }
        write => unreachable!("{write:?} changes something"),
    })
}

/// The parts of the types that the adapter needs. Shape: `[{name, types: the type and its supertypes, status of new
/// instances}]`.
fn types(archive: &Archive) -> Vec<Json> {
    let entity = |one: &EntityType| {
        let mut names = vec![&*one.name];
        let mut above = one.supertype;
        while let Some(number) = above {
            names.push(&archive.entities[number].name);
            above = archive.entities[number].supertype;
        }
        json!({ "name": &*one.name, "types": names, "status": &*one.initial_status })
    };
    let relationship =
        |(name, _): (&Arc<str>, _)| json!({ "name": &**name, "types": [&**name], "status": "active" });
    let entities = archive.entities.iter().map(entity);
    entities.chain(archive.types(TypeKind::Relationship).map(relationship)).collect()
}
