//! The change feed: records, or their effects on a watched part of the graph, as server-sent events from any position.

use std::sync::Arc;

use annals::Position;
use http::Method;

use super::feed_events::{self, Events};
use crate::answer::event_stream::{self, Source, Start};
use crate::description::endpoint::Endpoint;
use crate::description::parameters;
use crate::protocol::problem::Outcome;
use crate::request::call::Call;
use crate::request::granted::Granted;

/// The endpoints of this file.
pub fn endpoints() -> Vec<Endpoint> {
    let description = "Every record. With `tree` or `search`: the changes of that part of the graph, one event for each record that \
                       touched it, or events of many records for a client that is far behind. The header `Last-Event-ID`, which browsers send, means the \
                       same as `after`, and has priority over it. A client with grants gets what they admit at the time of sending.";
    vec![
        Endpoint::new(Method::GET, "/v1/feed", "Follow the change feed", feed)
            .describe(description)
            .tag("feed")
            .takes([
                parameters::query("after", parameters::count(), 0)
                    .says("Send records after this position; 0: all."),
                parameters::query("limit", parameters::count(), 10).says("End after this many events."),
                parameters::last_event_id(),
            ])
            .takes(feed_events::parameters())
            .answers_as(
                200,
                "Server-sent events, without end unless `limit` is given.",
                "text/event-stream",
                "Feed",
            )
            .fails(&["not-found", "busy", "invalid-expression"]),
    ]
}

async fn feed(call: Box<Call>) -> Outcome {
    let watch = feed_events::watched(&call.query)?;
    let granted = Granted::of(&call.door, &call.principal);
    // The header first: a browser that reconnects sends it together with the original address.
    let after = match event_stream::last_event(&call)? {
        Some(position) => position,
        None => Position(call.query.number("after")?.unwrap_or_default()),
    };
    let limit = call.query.number("limit")?.unwrap_or(u64::MAX);
    let source: Arc<str> = call.door.source();
    let open: event_stream::Open = Arc::new(move |repository, place| {
        let events =
            Events::new(repository, watch.as_ref(), place.position, source.clone(), granted.clone())?;
        Ok(Box::new(events) as Box<dyn Source>)
    });
    event_stream::send(&call, Start { after, limit, is_told: false }, open).await
}
