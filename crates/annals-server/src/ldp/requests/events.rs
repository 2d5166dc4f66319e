//! Notifications: a message in Activity Streams 2.0 for each resource that a commit changed, as server-sent events.

use std::sync::Arc;

use super::activities::Activities;
use super::request::Request;
use crate::answer::event_stream::{self, Open, Source, Start};
use crate::protocol::problem::Outcome;

/// Answers GET: the messages of all later commits, or of those after the position in `Last-Event-ID`.
///
/// Errors: `not-found` for a position of the future; `busy`.
pub async fn answer(request: &Request) -> Outcome {
    let door = &request.call.door;
    let after = match event_stream::last_event(&request.call)? {
        Some(position) => position,
        None => door.snapshot()?.position(),
    };
    let (shared, base) = (Arc::clone(door), request.base.clone());
    let open: Open = Arc::new(move |repository, place| {
        let activities = Activities::new(&shared, repository, base.clone(), place);
        Ok(Box::new(activities) as Box<dyn Source>)
    });
    event_stream::send(&request.call, Start { after, limit: u64::MAX, is_told: true }, open).await
}
