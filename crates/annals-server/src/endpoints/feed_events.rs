//! The events of the feed: records, or their effects on a part of the graph, each in a CloudEvents envelope.

use std::sync::Arc;

use annals::{
    Event, Find, Follow, Id, Position, Record, Repository, Subscription, TreePath, TypeKind, Watch,
};
use annals_json::{event_to_json, record_to_json};
use serde_json::{Value as Json, json};

use crate::answer::event_stream::{Place, Sent, Source};
use crate::description::parameters;
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::Problem;
use crate::protocol::query::Query;
use crate::request::granted::Granted;

/// The parameters that select the watched part.
pub fn parameters() -> Vec<Parameter> {
    let kinds = json!({ "type": "string", "enum": ["entity", "relationship"], "default": "entity" });
    vec![
        parameters::query("tree", parameters::text(), "/interfaces")
            .says("Send only changes of the item at this path and of its subtree."),
        parameters::query("root", parameters::text(), "root")
            .says("With `tree`: id of the entity that the path starts from."),
        parameters::query("search", parameters::text(), "package where size >= 10")
            .says("Send only changes of instances that this search finds, by its types and its condition."),
        parameters::query("kind", kinds, "entity")
            .says("With `search`: whether it finds entities or relationships."),
    ]
}

/// The part of the graph that a request watches; `None` if it asks for all records.
///
/// Errors: `invalid-argument`, `invalid-expression`.
pub fn watched(query: &Query) -> Result<Option<Watch>, Problem> {
    let beside = |name: &str, other: &str| match query.get(name) {
        None => Ok(()),
        Some(_) => {
            let text = format!("parameter {name}: expected {other} beside it, found none; leave it out");
            Err(Problem::invalid(text).with("parameter", name))
        }
    };
    let (tree, search) = (query.get("tree"), query.get("search"));
    if tree.is_some() && search.is_some() {
        let text = "parameter search: expected either tree or search, found both; make two subscriptions";
        return Err(Problem::invalid(text).with("parameter", "search"));
    }
    if tree.is_none() {
        beside("root", "tree")?;
    }
    if search.is_none() {
        beside("kind", "search")?;
    }
    if let Some(path) = tree {
        let path = TreePath::parse(path).map_err(|error| error.with("parameter", "tree"))?;
        let root = query.get("root").map(|id| Id::new(id).map_err(|error| error.with("parameter", "root")));
        return Ok(Some(Watch::Tree { root: root.transpose()?, path }));
    }
    let Some(search) = search else { return Ok(None) };
    let kind = match query.get("kind") {
        None | Some("entity") => TypeKind::Entity,
        Some("relationship") => TypeKind::Relationship,
        Some(other) => {
            let text = format!("parameter kind: expected entity or relationship, found {other:?}");
            return Err(Problem::invalid(text).with("parameter", "kind"));
        }
    };
    let find = Find::parse(search).map_err(|error| error.with("parameter", "search"))?;
    Ok(Some(Watch::Search { kind, find: Box::new(find) }))
}

/// The events of a feed.
pub struct Events {
    kind: Kind,
    /// The URI that the envelopes name as their source.
    source: Arc<str>,
    /// The grants of the client. `None`: it reads everything.
    granted: Option<Granted>,
}

enum Kind {
    /// All records.
    Records(Box<Follow>),
    /// Changes of the watched part.
    Changes(Box<Subscription>),
}

impl Events {
    /// The events after a position.
    ///
    /// Errors: `invalid-argument` for a part that cannot be watched.
    pub fn new(
        repository: &Repository,
        watch: Option<&Watch>,
        after: Position,
        source: Arc<str>,
        granted: Option<Granted>,
    ) -> Result<Events, Problem> {
        let Some(watch) = watch else {
            return Ok(Events { kind: Kind::Records(Box::new(repository.follow(after))), source, granted });
        };
        let parameter = if matches!(watch, Watch::Tree { .. }) { "tree" } else { "search" };
        let subscription = repository.subscribe(watch.clone(), Some(after));
        let subscription = subscription.map_err(|error| error.with("parameter", parameter))?;
        Ok(Events { kind: Kind::Changes(Box::new(subscription)), source, granted })
    }
}

impl Source for Events {
    fn place(&self) -> Place {
        let position = match &self.kind {
            Kind::Records(follow) => Position(follow.position().0.saturating_sub(1)),
            Kind::Changes(subscription) => subscription.position(),
        };
        Place { position, sent: 0 }
    }

    fn next(&mut self) -> Result<Option<Sent>, Problem> {
        let source = &self.source;
        // The grants of now, for each event.
        let seen = self.granted.as_ref().map(Granted::snapshot).transpose()?;
        let event = match &mut self.kind {
            Kind::Records(follow) => {
                let record = match seen {
                    Some(seen) => follow.poll_in(&seen)?,
                    None => follow.poll()?,
                };
                record.map(|(position, record)| (position, of_record(position, &record, source)))
            }
            Kind::Changes(subscription) => {
                let event = match seen {
                    Some(seen) => subscription.poll_in(&seen)?,
                    None => subscription.poll()?,
                };
                event.map(|event| (event.position, of_changes(&event, source)))
            }
        };
        Ok(event.map(|(position, data)| Sent { position: Some(position), data }))
    }
}

fn of_record(position: Position, record: &Record, source: &str) -> Json {
    envelope(position, record.instant, "annals.record", record_to_json(position, record), source)
}

fn of_changes(event: &Event, source: &str) -> Json {
    envelope(event.position, event.instant, "annals.change", event_to_json(event), source)
}

/// Source: <https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md>.
fn envelope(position: Position, time: annals::Instant, kind: &str, data: Json, source: &str) -> Json {
    json!({
        "specversion": "1.0",
        "id": position.to_string(),
        "source": source,
        "type": kind,
        "time": time.to_string(),
        "datacontenttype": "application/json",
        "data": data,
    })
}
