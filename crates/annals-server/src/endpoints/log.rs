//! The log: who changed what, when and why, with the values before and after.

use annals::{LogPlace, LogQuery, TypeKind};
use annals_json::logged_record_to_json;
use http::Method;
use serde_json::{Value as Json, json};

use crate::answer;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, instant, query, text};
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/log", "List changes with author and time", log)
            .describe(
                "Records, newest first, with the changes that match every filter; each change has the values before and \
                 after. The page leaves out records without such a change, and purged instances. The server reads a bounded \
                 part of the log for a page: the page may be short, or empty, and still have a `next`.",
            )
            .tag("history")
            .takes(filters())
            .takes(parameters::paging())
            .takes([parameters::wait_position()])
            .answers(200, "A page of records.", "LogPage")
            .fails(&["not-found"]),
    ]
}

fn filters() -> Vec<Parameter> {
    let verbs = json!({ "type": "string", "enum": annals::Action::verbs() });
    let orders =
        json!({ "type": "string", "enum": ["newest-first", "oldest-first"], "default": "newest-first" });
    vec![
        query("author", text(), "bob").says("Only commits of this author."),
        query("type", text(), "person").says(
            "Only changes of instances of this type and its subtypes, of classifications of this name, \
             and of its declaration.",
        ),
        query("id", text(), "ada").says(
            "Only changes of the entity or relationship that has or had this id, also when it changed \
             together with another instance.",
        ),
        query("kind", annals_json::schema::type_kinds(), "entity").says(
            "Only changes of entities, relationships or classifications, and declarations of types of \
             this kind.",
        ),
        query("verb", verbs, "update").says("Only changes of this kind."),
        query("since", instant(), "2025-08-01").says("Only commits at this instant or later."),
        query("until", instant(), "2025-09-01T00:00:00Z").says("Only commits before this instant."),
        query("order", orders, "oldest-first").says("Order of the records."),
    ]
}

async fn log(call: Box<Call>) -> Outcome {
    let id = call.query.get("id").map(annals::Id::new).transpose()?;
    let after = call.query.get("after").map(str::parse::<LogPlace>).transpose();
    let query = LogQuery {
        author: call.query.get("author").map(Into::into),
        type_name: call.query.get("type").map(Into::into),
        id,
        kind: call.query.get("kind").map(kind_named).transpose()?,
        verb: call.query.get("verb").map(Into::into),
        since: call.query.instant("since")?,
        until: call.query.instant("until")?,
        is_oldest_first: is_oldest_first(&call)?,
        after: after.map_err(|error| error.with("parameter", "after"))?,
        limit: call.limit()?,
        bytes_max: call.door.bounds.limits.page_bytes_max,
    };
    call.read(Weight::Heavy, move |call, snapshot| {
        let page = snapshot.log(&query)?;
        let items: Vec<Json> = page.records.iter().map(logged_record_to_json).collect();
        let next = page.next.map(|next| next.to_string());
        Ok(answer::page(call, &items, None, next, snapshot.position()))
    })
    .await
}

fn is_oldest_first(call: &Call) -> Result<bool, Problem> {
    match call.query.get("order") {
        None | Some("newest-first") => Ok(false),
        Some("oldest-first") => Ok(true),
        Some(text) => {
            let text = format!("order {text:?}: expected newest-first or oldest-first");
            Err(Problem::invalid(text).with("parameter", "order"))
        }
    }
}

fn kind_named(text: &str) -> Result<TypeKind, Problem> {
    TypeKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
        let known = TypeKind::ALL.map(TypeKind::name).join(", ");
        Problem::invalid(format!("kind {text:?}: expected one of {known}")).with("parameter", "kind")
    })
}
