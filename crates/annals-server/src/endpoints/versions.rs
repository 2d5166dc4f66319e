//! The past of an instance: its versions, one version, and the differences between two.

use annals::{History, InstanceId, Snapshot};
use annals_json::{Seen, VersionForm, difference_to_json};
use http::{Method, StatusCode};

use super::instances::{Collection, ENTITIES, RELATIONSHIPS};
use crate::answer;
use crate::answer::lines;
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::offset::Offset;

const PATHS: [[&str; 3]; 2] = [
    ["/v1/entities/{id}/history", "/v1/entities/{id}/versions/{number}", "/v1/entities/{id}/diff"],
    [
        "/v1/relationships/{id}/history",
        "/v1/relationships/{id}/versions/{number}",
        "/v1/relationships/{id}/diff",
    ],
];

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let of = |(collection, paths): (Collection, [&'static str; 3])| endpoints_of(collection, paths);
    [ENTITIES, RELATIONSHIPS].into_iter().zip(PATHS).flat_map(of).collect()
}

fn endpoints_of(of: Collection, [history_path, version_path, diff_path]: [&'static str; 3]) -> Vec<Endpoint> {
    let reads = |endpoint: Endpoint, parameters: Vec<Parameter>| {
        endpoint.tag("history").takes(parameters).fails(&["not-found", "future-instant"])
    };
    let number = |name, description| parameters::required(name, parameters::count(), 1).says(description);
    vec![
        reads(Endpoint::new(Method::GET, history_path, "List the versions", move |call| history(of, call)), parameters::reading())
            .describe(
                "Also of a deleted instance: author, time and message of each version, and its content if asked for.",
            )
            .takes(parameters::history())
            .takes(parameters::paging())
            .answers(200, "A page of versions.", "VersionPage")
            .answers_lines("VersionLine"),
        reads(Endpoint::new(Method::GET, version_path, "Read one version", move |call| version(of, call)), parameters::reading_timeless())
            .answers(200, "The instance in that version, also a deleted one.", of.schema),
        reads(Endpoint::new(Method::GET, diff_path, "Compare two versions", move |call| diff(of, call)), parameters::reading_timeless())
            .takes([
                number("from", "Number of the version before."),
                number("to", "Number of the version after."),
            ])
            .answers(200, "The differences.", "Difference"),
    ]
}

async fn history(of: Collection, call: Box<Call>) -> Outcome {
    let id = of.named(&call)?;
    let offset = Offset::of(&call)?;
    let history = History {
        from: call.query.instant("from")?,
        to: call.query.instant("to")?,
        is_oldest_first: call.query.flag("oldestFirst")?,
        ..History::default()
    };
    let with_content = call.query.flag("content")?;
    if lines::are_wanted(&call) {
        let limit = call.lines_limit()?;
        let snapshot = offset.pin(call.snapshot().await?)?;
        return lines::send(call, snapshot, move |_, snapshot, lines| {
            snapshot.check_known(&id)?;
            lines::batches(lines, offset, limit, snapshot, |lines, skip, count| {
                let history = History { skip, limit: count, bytes_max: lines.batch_bytes(), ..history };
                let versions = VersionForm::history(snapshot, &id, &history, with_content)?;
                versions.iter().try_for_each(|version| lines.line(version))?;
                Ok((versions.len(), has_more(snapshot, &id, &history, versions.len())?))
            })
        })
        .await;
    }
    let limit = call.limit()?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let snapshot = offset.pin(snapshot)?;
        snapshot.check_known(&id)?;
        let bytes_max = call.door.bounds.limits.page_bytes_max;
        let history = History { skip: offset.skipped, limit, bytes_max, ..history };
        let versions = VersionForm::history(&snapshot, &id, &history, with_content)?;
        let has_more = has_more(&snapshot, &id, &history, versions.len())?;
        let next = offset.next(has_more, versions.len(), &snapshot);
        Ok(answer::page(call, &versions, None, next, snapshot.position()))
    })
    .await
}

/// True if there are versions behind the first `count` of a page.
fn has_more(snapshot: &Snapshot, id: &InstanceId, history: &History, count: usize) -> annals::Result<bool> {
    let next = History { skip: history.skip.saturating_add(count), limit: 1, ..*history };
    Ok(!snapshot.history(id, &next)?.is_empty())
}

async fn version(of: Collection, call: Box<Call>) -> Outcome {
    let id = of.named(&call)?;
    let number = number_in_path(&call)?;
    call.read(Weight::Heavy, move |_, snapshot| {
        let found =
            Seen::version(&snapshot, &id, number)?.ok_or_else(|| no_version(&snapshot, &id, number))?;
        Ok(answer::json(StatusCode::OK, &found, snapshot.position()))
    })
    .await
}

async fn diff(of: Collection, call: Box<Call>) -> Outcome {
    let id = of.named(&call)?;
    let number = |name: &str| {
        call.query.required(name)?;
        Ok::<u32, Problem>(call.query.number(name)?.expect("it is there"))
    };
    let (from, to) = (number("from")?, number("to")?);
    call.read(Weight::Heavy, move |_, snapshot| {
        let difference = snapshot.difference(&id, from, to)?;
        Ok(answer::json(StatusCode::OK, &difference_to_json(&difference), snapshot.position()))
    })
    .await
}

fn number_in_path(call: &Call) -> Result<u32, Problem> {
    let text = call.path("number");
    text.parse().map_err(|_| Problem::invalid(format!("version {text:?}: expected a whole number from 1")))
}

fn no_version(snapshot: &Snapshot, id: &InstanceId, number: u32) -> Problem {
    Problem::not_found(format!(
        "{id} has no version {number} at position {}; list its history",
        snapshot.position()
    ))
}
