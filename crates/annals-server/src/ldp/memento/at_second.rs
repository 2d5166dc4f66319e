//! Mementos (RFC 7089): a resource as it was at the end of a second, and the time gate that chooses one.

use annals::{Instant, Snapshot};

use super::mementos::Mementos;
use super::second::Second;
use super::time_gate::address;
use crate::ldp::mapping::view::View;
use crate::ldp::requests::get::show;
use crate::ldp::requests::headers;
use crate::ldp::requests::request::{Original, Request};
use crate::protocol::problem::{Outcome, Problem};

/// Answers GET, HEAD and OPTIONS of a memento.
///
/// Errors: `not-found` if the resource got no version in this second.
pub async fn answer(request: Request, original: Original, second: Second) -> Outcome {
    let none = |snapshot: &Snapshot| {
        let iri = headers::address(&request.base, &original.path, original.is_description);
        let known = Mementos::of(snapshot, &original.path).second_for(second)?;
        Err(match known {
            Some(known) => Problem::not_found(format!(
                "{iri}: it has no version of {}; the nearest one is {}",
                second.date(),
                address(&request, &original, known)
            )),
            None => View { snapshot, base: &request.base }.live(&original.path).err().unwrap_or_else(|| {
                Problem::not_found(format!("{iri}: it has no version of {}", second.date()))
            }),
        })
    };
    // Order: before the snapshot, because other writes may still come within this second.
    if second.start() <= Instant::now() {
        second.passed().await;
        request.call.wait_settled(Some(second.last())).await?;
    }
    let snapshot = request.call.snapshot().await?;
    match Mementos::of(&snapshot, &original.path).snapshot_of(second)? {
        Some(then) => show(request, original, Some(second), then).await,
        None => none(&snapshot),
    }
}
