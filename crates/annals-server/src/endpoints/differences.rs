//! Compares all instances at two positions, and the items of a tree at two times.

use annals::{AsOf, Position, Snapshot};
use annals_json::{instance_change_to_json, json_of, tree_change_to_json};
use http::Method;
use serde_json::Value as Json;

use super::tree::Spot;
use crate::answer;
use crate::answer::lines;
use crate::description::endpoint::Endpoint;
use crate::description::parameters::{self, count, instant, query, required};
use crate::protocol::problem::{Outcome, Problem};
use crate::request::call::{Call, Weight};
use crate::request::offset::Offset;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let differs = |endpoint: Endpoint| {
        endpoint
            .takes(parameters::paging())
            .takes([parameters::wait_position()])
            .fails(&["not-found", "too-large"])
    };
    vec![
        differs(Endpoint::new(Method::GET, "/v1/diff", "Compare two positions", diff))
            .describe(
                "The change of every instance, in the order of the first change; `count` is the number of all changes.",
            )
            .tag("history")
            .takes([
                required("from", count(), 1).says("The earlier position."),
                required("to", count(), 1).says("The later position."),
            ])
            .answers(200, "A page of changes.", "ChangePage")
            .answers_lines("ChangeLine"),
        differs(Endpoint::new(Method::GET, "/v1/tree-diff/{steps}", "Compare a subtree at two times", tree_diff))
            .describe(
                "The changes of the item at the path and of its subtree, in the order of the tree; `count` is the number of all \
                 changes. Give one of `from`, `fromPosition` and `fromValidAt`; without `to…` the later time is now.",
            )
            .tag("trees")
            .takes(parameters::in_tree())
            .takes([
                query("from", instant(), "2025-08-01").says("The earlier time: what the repository knew at this instant."),
                query("fromPosition", count(), 1).says("The earlier time: what it knew at this position."),
                query("fromValidAt", instant(), "2025-08-01").says("The earlier time: what was true at this instant."),
                query("to", instant(), "2025-08-09").says("The later time: what the repository knew at this instant."),
                query("toPosition", count(), 1).says("The later time: what it knew at this position."),
                query("toValidAt", instant(), "2025-08-09").says("The later time: what was true at this instant."),
            ])
            .takes([parameters::candidate("The later time is that of the repository as this candidate would change it.")])
            .answers(200, "A page of changes.", "TreeChangePage")
            .answers_lines("TreeChangeLine")
            .fails(&["future-instant"]),
    ]
}

async fn diff(call: Box<Call>) -> Outcome {
    let position = |name: &str| {
        call.query.required(name)?;
        Ok::<Position, Problem>(Position(call.query.number(name)?.expect("it is there")))
    };
    let (from, to) = (position("from")?, position("to")?);
    for position in [from, to] {
        call.wait_as_of(AsOf { position: Some(position), ..AsOf::default() }).await?;
    }
    send(call, move |snapshot| Ok(Box::new(snapshot.changes(from, to)?)), instance_change_to_json).await
}

async fn tree_diff(call: Box<Call>) -> Outcome {
    let spot = Spot::of(&call)?;
    let from = time(&call, ["fromPosition", "from", "fromValidAt"])?;
    let to = time(&call, ["toPosition", "to", "toValidAt"])?;
    if from == AsOf::default() {
        let text = "parameter from: expected a time as one of from, fromPosition, fromValidAt, found none";
        return Err(Problem::invalid(text).with("parameter", "from"));
    }
    for time in [from, to] {
        call.wait_as_of(time).await?;
    }
    let find = move |snapshot: &Snapshot| spot.tree(snapshot).difference(&spot.path, from, to);
    send(call, move |snapshot| Ok(Box::new(find(snapshot)?.into_iter().map(Ok))), tree_change_to_json).await
}

/// The time that the parameters with these names give.
fn time(call: &Call, [position, instant, valid]: [&'static str; 3]) -> Result<AsOf, Problem> {
    Ok(AsOf {
        position: call.query.number(position)?.map(Position),
        instant: call.query.instant(instant)?,
        valid: call.query.instant(valid)?,
    })
}

/// Changes, compared one after the other.
type Found<'s, C> = Box<dyn Iterator<Item = annals::Result<C>> + 's>;

/// Answers with the changes: in lines, or a page of them with the count of all.
async fn send<C: 'static>(
    call: Box<Call>,
    find: impl for<'s> Fn(&'s Snapshot) -> annals::Result<Found<'s, C>> + Send + 'static,
    to_json: fn(&C) -> Json,
) -> Outcome {
    let offset = Offset::of(&call)?;
    if lines::are_wanted(&call) {
        let limit = call.lines_limit()?;
        let snapshot = offset.pin(call.snapshot().await?)?;
        return lines::send(call, snapshot, move |_, snapshot, lines| {
            let mut found = find(snapshot)?.skip(offset.skipped);
            found.by_ref().take(limit).try_for_each(|change| lines.line(&to_json(&change?)))?;
            let has_more = found.next().transpose()?.is_some();
            lines.next(offset.next(has_more, limit, snapshot))
        })
        .await;
    }
    let limit = call.limit()?;
    call.read(Weight::Heavy, move |call, snapshot| {
        let snapshot = offset.pin(snapshot)?;
        let shown = offset.skipped..offset.skipped.saturating_add(limit);
        let (mut count, mut items, mut left) = (0, Vec::new(), call.door.bounds.limits.page_bytes_max.max(1));
        for change in find(&snapshot)? {
            let change = change?;
            if shown.contains(&count) && left > 0 {
                let item = to_json(&change);
                left = left.saturating_sub(json_of(&item).len());
                items.push(item);
            }
            count += 1;
        }
        let has_more = count > offset.skipped.saturating_add(items.len());
        let next = offset.next(has_more, items.len(), &snapshot);
        Ok(answer::page(call, &items, Some(count), next, snapshot.position()))
    })
    .await
}
