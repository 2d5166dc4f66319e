//! A request for handlers: decoded and checked, with functions to read and to write.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use annals::{AsOf, IdempotencyKey, Instant, Position, Snapshot};
use annals_json::Room;
use axum::body::Body;
use http::{HeaderMap, HeaderName, Method, Uri};
use http_body::Body as _;
use serde_json::Value as Json;

use super::body::{self, Bytes};
use super::cursors::Cursors;
use super::door::Door;
use super::prepared::prepare;
use crate::access::{Principal, Verb, Verbs};
use crate::bounds::heavy::{heavy, heavy_answer};
use crate::bounds::limits::Limits;
use crate::bounds::patience::position_permit;
use crate::bounds::peers::Peer;
use crate::protocol::header_text::{content_length, single};
use crate::protocol::names::WAIT_POSITION;
use crate::protocol::problem::{Outcome, Problem};
use crate::protocol::query::{Query, decode_percent};
use crate::reporting::request_log::Entry;

/// A request that waits for a settled instant looks so often.
const SETTLED_POLL: Duration = Duration::from_millis(5);

/// How much work a read is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// A few look-ups: done at once while the request reads the present.
    Light,
    /// Longer work: done on a separate thread, a bounded number at once.
    Heavy,
}

/// A request.
pub struct Call {
    /// The state that all requests share.
    pub door: Arc<Door>,
    /// Path parameters, decoded.
    pub path: Vec<(String, String)>,
    /// Query parameters.
    pub query: Query,
    /// Headers.
    pub headers: HeaderMap,
    /// GET, HEAD, PUT …
    pub method: Method,
    /// Path and query of the request.
    pub uri: Uri,
    /// The body, until [`Call::take_body`] takes it. A lock that no thread waits for makes a call shareable.
    pub body: Mutex<Body>,
    /// Its key, if the client may send it again.
    pub key: Option<IdempotencyKey>,
    /// Room for the body, held until the request is done.
    pub body_room: body::Room,
    /// The client, as far as it is proven. All that a request may see and do follows from it.
    pub principal: Arc<Principal>,
    /// The address of the client.
    pub peer: Arc<Peer>,
    /// The address at which the connection reached the server, if there is one.
    pub reached: Option<SocketAddr>,
    /// The entry of the request in the request log.
    pub entry: Option<Arc<Entry>>,
}

impl Call {
    /// A path parameter.
    pub fn path(&self, name: &str) -> &str {
        let found = self.path.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// The id in the path.
    pub fn id(&self) -> Result<annals::Id, Problem> {
        Ok(annals::Id::new(self.path("id"))?)
    }

    /// A header that may come once, as text, percent-decoded.
    ///
    /// Errors: `invalid-argument` for several of it, and for another encoding.
    pub fn header(&self, name: &HeaderName) -> Result<Option<String>, Problem> {
        let Some(value) = single(&self.headers, name)? else { return Ok(None) };
        let text = std::str::from_utf8(value.as_bytes())
            .map_err(|_| Problem::invalid(format!("header {name}: expected UTF-8, percent-encoded")))?;
        decode_percent(text, name.as_str()).map(Some)
    }

    /// The body, not received yet.
    pub fn take_body(&mut self) -> Body {
        std::mem::take(self.body.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Receives the body and reads the JSON in it.
    ///
    /// Errors: those of the body; `unauthenticated` if the client does not stand any more.
    pub async fn receive(&mut self) -> Result<Json, Problem> {
        let body = self.take_body();
        let bytes = Bytes::receive(&self.door.bounds, &self.headers, body, self.body_room.clone()).await?;
        // A body may take long to arrive.
        self.door.access.check_standing(&self.principal)?;
        if bytes.is_small() {
            return bytes.json();
        }
        heavy(&self.door.bounds, move || bytes.json()).await
    }

    /// True if there is no body.
    pub fn has_no_body(&self) -> bool {
        let body = self.body.lock().unwrap_or_else(PoisonError::into_inner);
        body.is_end_stream() || body.size_hint().exact() == Some(0)
    }

    /// True if the body is known to be short, so that the handler can parse it at once.
    pub fn has_small_body(&self) -> bool {
        content_length(&self.headers).is_some_and(|length| length <= body::SMALL_BODY_BYTES as u64)
    }

    /// Page size: the `limit` of the request, within bounds.
    pub fn limit(&self) -> Result<usize, Problem> {
        check_limit(&self.door.bounds.limits, self.query.number("limit")?)
    }

    /// How the client gets cursors, and sends them.
    pub fn cursors(&self) -> Cursors<'_> {
        Cursors(self.principal.is_granted().then_some(&self.door.cursor_key))
    }

    /// The cursor of the request: where its page begins.
    ///
    /// Errors: `invalid-page`.
    pub fn after(&self) -> Result<Option<String>, Problem> {
        self.cursors().open(self.query.get("after").map(str::to_owned))
    }

    /// Room for the stored bytes of the items of a page.
    pub fn room(&self) -> Room {
        Room::of(self.door.bounds.limits.page_bytes_max)
    }

    /// Most items of an answer in lines; by default all.
    pub fn lines_limit(&self) -> Result<usize, Problem> {
        check_lines_limit(self.query.number("limit")?)
    }

    /// The snapshot as of the time asked for, after the position that the client waits for is visible.
    pub async fn snapshot(&self) -> Result<Snapshot, Problem> {
        self.wait_visible().await?;
        self.snapshot_as_of(self.query.as_of()?).await
    }

    /// The snapshot as of a time, which shows the same whenever it is asked for.
    pub async fn snapshot_as_of(&self, as_of: AsOf) -> Result<Snapshot, Problem> {
        // Order: first, because the snapshot must have every record up to that time.
        self.wait_as_of(as_of).await?;
        Ok(self.present().await?.as_of(as_of)?)
    }

    /// The present, or the present as the candidate of the request would change it, after the position that the client
    /// waits for is visible.
    pub async fn present(&self) -> Result<Snapshot, Problem> {
        self.wait_visible().await?;
        let Some(name) = self.query.get("candidate") else {
            return self.sighted().await;
        };
        self.check_reads_all()?;
        let (door, name) = (Arc::clone(&self.door), name.to_owned());
        Box::pin(heavy(&self.door.bounds, move || Ok(door.repository()?.candidates().view(&name)?))).await
    }

    /// The present as the client sees it.
    pub async fn sighted(&self) -> Result<Snapshot, Problem> {
        if !self.principal.is_granted() {
            return self.door.snapshot();
        }
        let snapshot = self.door.repository_of_granted()?.try_snapshot()?;
        let roles: Vec<Arc<str>> = self.principal.granted_roles().cloned().collect();
        if let Some(rights) = self.door.grants.ready(&snapshot, &roles) {
            return Ok(snapshot.seen_by(rights.sight())?);
        }
        Box::pin(prepare(&self.door, &self.principal)).await?;
        let door = Arc::clone(&self.door);
        let snapshot = door.snapshot()?;
        if let Some(rights) = door.grants.ready(&snapshot, &roles) {
            return Ok(snapshot.seen_by(rights.sight())?);
        }
        // Those that changed meanwhile are asked.
        Box::pin(heavy(&self.door.bounds, move || {
            let rights = door.grants.rights(&snapshot, &roles)?;
            Ok(snapshot.seen_by(rights.sight())?)
        }))
        .await
    }

    /// Refuses what only a client that reads everything may ask.
    ///
    /// Errors: `forbidden`.
    pub fn check_reads_all(&self) -> Result<(), Problem> {
        match self.principal.is_granted() {
            true => Err(self.principal.forbidden(Verbs::of(&[Verb::Read]), "all")),
            false => Ok(()),
        }
    }

    /// Runs `work` on a snapshot as of the time asked for.
    pub async fn read(
        self: Box<Self>,
        weight: Weight,
        work: impl Fn(&Call, Snapshot) -> Outcome + Send + 'static,
    ) -> Outcome {
        self.wait_visible().await?;
        let as_of = self.query.as_of()?;
        let is_present = as_of == AsOf::default();
        let snapshot = self.snapshot_as_of(as_of).await?;
        if weight == Weight::Light && is_present {
            return work(&self, snapshot);
        }
        let door = Arc::clone(&self.door);
        // In a box: light reads need no room for this future.
        Box::pin(heavy_answer(&door.bounds, snapshot, move |snapshot| work(&self, snapshot))).await
    }

    /// Waits until what is read as of a time is here and never changes.
    ///
    /// Errors: as [`Call::wait_settled`]; `not-visible` in a server that does not write and does not read the position in time:
    /// the one that writes may have it. In the door of a program it is not found, as in its repository.
    pub async fn wait_as_of(&self, as_of: AsOf) -> Result<(), Problem> {
        self.wait_settled(as_of.instant).await?;
        match as_of.position {
            Some(position) if !self.door.is_in_process && self.door.repository()?.is_read_only() => {
                Box::pin(self.wait_for(position)).await
            }
            _ => Ok(()),
        }
    }

    /// Waits until an instant is settled: then what is read as of it never changes.
    ///
    /// Errors: `not-visible` if that takes too long; `future-instant`; `busy` if too many requests wait.
    pub async fn wait_settled(&self, instant: Option<Instant>) -> Result<(), Problem> {
        let Some(instant) = instant else { return Ok(()) };
        if self.door.repository()?.is_settled(instant)? {
            return Ok(());
        }
        // In a box: reads of what is settled need no room for this future.
        Box::pin(self.wait_until_settled(instant)).await
    }

    async fn wait_until_settled(&self, instant: Instant) -> Result<(), Problem> {
        let repository = self.door.repository()?;
        let _permit = position_permit(&self.door.bounds, &self.peer)?;
        let deadline = tokio::time::Instant::now() + self.door.bounds.limits.visible_time;
        while !repository.is_settled(instant)? {
            if tokio::time::Instant::now() >= deadline {
                let text = format!(
                    "records of {instant} may still come, those before {} are all visible; try again",
                    repository.settled_until()
                );
                return Err(Problem::door("not-visible", text));
            }
            tokio::time::sleep(SETTLED_POLL).await;
        }
        Ok(())
    }

    /// Waits until the position that the client asks for is visible.
    ///
    /// Errors: `not-visible` if that takes too long; `busy` if too many requests wait.
    pub async fn wait_visible(&self) -> Result<(), Problem> {
        let Some(text) = self.header(&WAIT_POSITION)? else { return Ok(()) };
        let wanted = text.trim().parse().map(Position).map_err(|_| {
            let name = WAIT_POSITION.as_str();
            Problem::invalid(format!("header {name}: expected a position, found {text:?}"))
        })?;
        self.wait_for(wanted).await
    }

    /// Waits until the position of the page before is visible, so that the next one is not older: it may come from another
    /// server.
    ///
    /// Errors: as [`Call::wait_visible`].
    pub async fn wait_for_page(&self, after: Option<&str>) -> Result<(), Problem> {
        match after.and_then(annals::cursor_position) {
            Some(position) => self.wait_for(position).await,
            None => Ok(()),
        }
    }

    /// Waits until a position is visible.
    ///
    /// Errors: `not-visible` if that takes too long; `busy` if too many requests wait.
    pub async fn wait_for(&self, wanted: Position) -> Result<(), Problem> {
        if self.door.snapshot()?.position() >= wanted {
            return Ok(());
        }
        let _permit = position_permit(&self.door.bounds, &self.peer)?;
        let mut visible = self.door.visible();
        let waited = tokio::time::timeout(
            self.door.bounds.limits.visible_time,
            visible.wait_for(|known| *known >= wanted),
        )
        .await;
        match waited {
            Ok(Ok(_)) => Ok(()),
            _ => Err(Problem::door(
                "not-visible",
                format!(
                    "position {wanted} is not visible yet, the last one is {}; try again",
                    self.door.snapshot()?.position()
                ),
            )),
        }
    }
}

/// The page size of the request, or the default, within bounds.
pub fn check_limit(limits: &Limits, asked: Option<usize>) -> Result<usize, Problem> {
    const DEFAULT: usize = 100;
    let limit_max = limits.page_max;
    match asked {
        None => Ok(DEFAULT.min(limit_max)),
        Some(limit) if (1..=limit_max).contains(&limit) => Ok(limit),
        Some(limit) => {
            let text = format!("limit: expected 1 to {limit_max}, found {limit}");
            Err(Problem::from(annals::Error::new(annals::ErrorKind::InvalidPage, text))
                .with("parameter", "limit"))
        }
    }
}

/// Most items of an answer in lines, which has no upper bound.
pub fn check_lines_limit(asked: Option<usize>) -> Result<usize, Problem> {
    match asked {
        Some(0) => {
            let text = "limit: expected at least 1, found 0";
            Err(Problem::from(annals::Error::new(annals::ErrorKind::InvalidPage, text))
                .with("parameter", "limit"))
        }
        asked => Ok(asked.unwrap_or(usize::MAX)),
    }
}
