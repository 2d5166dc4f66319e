//! A request for handlers: decoded and checked, with functions to read and to write.

use std::sync::{Arc, Mutex, PoisonError};

use annals::{Cancel, Position, Snapshot};
use annals_json::Room;
use axum::body::Body;
use http::{HeaderMap, HeaderName, Method, Uri};
use http_body::Body as _;
use serde_json::Value as Json;
use tokio::sync::OwnedSemaphorePermit;

use super::body::{self, Bytes};
use super::door::Door;
use crate::access::{Principal, Verb, Verbs};
use crate::bounds::patience::position_permit;
use crate::bounds::peers::{HeavyTurn, Peer, asking};
use crate::bounds::sending;
use crate::protocol::header_text::content_length;
use crate::protocol::names::WAIT_POSITION;
use crate::protocol::problem::{Outcome, Problem};
use crate::protocol::query::{Query, decode_percent};
use crate::reporting::request_log::Entry;

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
    /// Room for the body, held until the request is done.
    pub body_room: body::Room,
    /// The client, as far as it is proven. All that a request may see and do follows from it.
    pub principal: Arc<Principal>,
    /// The address of the client.
    pub peer: Arc<Peer>,
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

    /// A header as text, percent-decoded.
    pub fn header(&self, name: &HeaderName) -> Result<Option<String>, Problem> {
        let Some(value) = self.headers.get(name) else { return Ok(None) };
        let text = std::str::from_utf8(value.as_bytes())
            .map_err(|_| Problem::invalid(format!("header {name}: expected UTF-8, percent-encoded")))?;
        decode_percent(text, name.as_str()).map(Some)
    }

    /// The body, not received yet.
    pub fn take_body(&mut self) -> Body {
        std::mem::take(self.body.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Receives the body and reads the JSON in it.
    pub async fn receive(&mut self) -> Result<Json, Problem> {
        let body = self.take_body();
        let bytes = Bytes::receive(&self.door, &self.headers, body, self.body_room.clone()).await?;
        if bytes.is_small() {
            return bytes.json();
        }
        heavy(&self.door, move || bytes.json()).await
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
        check_limit(&self.door, self.query.number("limit")?)
    }

    /// Room for the stored bytes of the items of a page.
    pub fn room(&self) -> Room {
        Room::of(self.door.limits.page_bytes_max)
    }

    /// Most items of an answer in lines; by default all.
    pub fn lines_limit(&self) -> Result<usize, Problem> {
        check_lines_limit(self.query.number("limit")?)
    }

    /// The snapshot as of the time asked for, after the position that the client waits for is visible.
    pub async fn snapshot(&self) -> Result<Snapshot, Problem> {
        Ok(self.present().await?.as_of(self.query.as_of()?)?)
    }

    /// The present, or the present as the candidate of the request would change it, after the position that the client
    /// waits for is visible.
    pub async fn present(&self) -> Result<Snapshot, Problem> {
        self.wait_visible().await?;
        let Some(name) = self.query.get("candidate") else {
            return self.sighted(self.door.repository()?.snapshot()).await;
        };
        self.check_reads_all()?;
        let (door, name) = (Arc::clone(&self.door), name.to_owned());
        Box::pin(heavy(&self.door, move || Ok(door.repository()?.candidates().view(&name)?))).await
    }

    /// The snapshot as the client sees it.
    pub async fn sighted(&self, snapshot: Snapshot) -> Result<Snapshot, Problem> {
        if !self.principal.is_granted() {
            return Ok(snapshot);
        }
        let roles: Vec<Arc<str>> = self.principal.granted_roles().cloned().collect();
        if let Some(rights) = self.door.grants.ready(&snapshot, &roles)? {
            return Ok(snapshot.seen_by(rights.sight())?);
        }
        let door = Arc::clone(&self.door);
        // After a change of grants every instance is asked; after other changes, those that changed.
        Box::pin(heavy(&self.door, move || {
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
        let present = self.present().await?;
        let as_of = self.query.as_of()?;
        let is_present = as_of == annals::AsOf::default();
        let snapshot = present.as_of(as_of)?;
        if weight == Weight::Light && is_present {
            return work(&self, snapshot);
        }
        let door = Arc::clone(&self.door);
        // In a box: light reads need no room for this future.
        Box::pin(heavy_answer(&door, snapshot, move |snapshot| work(&self, snapshot))).await
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
        if self.door.repository()?.snapshot().position() >= wanted {
            return Ok(());
        }
        let _permit = position_permit(&self.door, &self.peer)?;
        let mut visible = self.door.visible();
        let waited =
            tokio::time::timeout(self.door.limits.visible_time, visible.wait_for(|known| *known >= wanted))
                .await;
        match waited {
            Ok(Ok(_)) => Ok(()),
            _ => Err(Problem::door(
                "not-visible",
                format!(
                    "position {wanted} is not visible yet, the last one is {}; try again",
                    self.door.repository()?.snapshot().position()
                ),
            )),
        }
    }
}

/// The page size of the request, or the default, within bounds.
pub fn check_limit(door: &Door, asked: Option<usize>) -> Result<usize, Problem> {
    const DEFAULT: usize = 100;
    let limit_max = door.limits.page_max;
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

/// Does long work on a separate thread, a bounded number at once. A bounded number waits.
///
/// Errors: `busy`; those of the work.
pub async fn heavy<T: Send + 'static>(
    door: &Door,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let held = place_for_heavy(door).await?;
    let running = tokio::task::spawn_blocking(move || {
        // Work that cannot be cancelled continues after the client has gone, so the work holds its place.
        let _held = held;
        work()
    });
    match running.await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

async fn place_for_heavy(door: &Door) -> Result<(OwnedSemaphorePermit, Option<HeavyTurn>), Problem> {
    let Ok(_waiting) = door.gates.heavy_waits.try_acquire() else {
        let most = door.limits.heavy_waits_max();
        let text =
            format!("{most} searches, walks and other long reads wait for their turn; try again later");
        return Err(Problem::busy(text));
    };
    // Order: those of one client wait for each other first, so that others pass them.
    let turn = match asking() {
        Some(peer) => Some(peer.heavy_turn(door.limits.heavy_max).await?),
        None => None,
    };
    let permit = Arc::clone(&door.gates.heavy).acquire_owned().await.expect("gates are never closed");
    Ok((permit, turn))
}

/// The same for work that reads a snapshot. The work is cancelled when the client has gone or the time of the request
/// is over.
pub async fn heavy_read<T: Send + 'static>(
    door: &Door,
    snapshot: Snapshot,
    work: impl FnOnce(Snapshot) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let cancel = CancelOnDrop(Cancel::new());
    let snapshot = snapshot.cancelled_by(&cancel.0);
    heavy(door, move || work(snapshot)).await
}

/// The same for work that makes an answer: the permit is released only after the answer has its room.
pub async fn heavy_answer(
    door: &Arc<Door>,
    snapshot: Snapshot,
    work: impl Fn(Snapshot) -> Outcome + Send + 'static,
) -> Outcome {
    let known = Arc::clone(door);
    heavy_read(door, snapshot, move |snapshot| sending::admit(&known, work(snapshot)?)).await
}

/// Cancels when the request is dropped, for any reason.
pub struct CancelOnDrop(pub Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::bounds::limits::Limits;
    use crate::bounds::peers::asked_by;
    use crate::request::hosts::Hosts;

    /// All room for searches could be in the hands of one client, and others waited for it.
    #[tokio::test(flavor = "multi_thread")]
    async fn searches_of_one_client_leave_room_for_those_of_others() {
        let limits = Limits { heavy_max: 2, ..Limits::default() };
        let hosts = Hosts::new(IpAddr::V4(Ipv4Addr::LOCALHOST), Vec::new(), Vec::new(), None);
        let door = Arc::new(Door::new(limits, hosts, String::new(), None));
        let search = |name: &str, wait: mpsc::Receiver<()>| {
            let (door, peer) = (Arc::clone(&door), door.peers.named(&name.into()));
            tokio::spawn(asked_by(peer, async move {
                heavy(&door, move || {
                    let _ = wait.recv();
                    Ok(())
                })
                .await
            }))
        };
        let (ends, waits): (Vec<_>, Vec<_>) = (0..40).map(|_| mpsc::channel()).unzip();
        let mut of_ada: Vec<_> = waits.into_iter().map(|wait| search("ada", wait)).collect();
        tokio::time::sleep(Duration::from_millis(100)).await;
        let bob = search("bob", mpsc::channel().1);
        tokio::time::timeout(Duration::from_secs(20), bob)
            .await
            .expect("bob does not wait")
            .unwrap()
            .unwrap();
        // 32 of ada are in progress or wait, and the others are refused.
        let refused = of_ada.extract_if(.., |task| task.is_finished()).collect::<Vec<_>>();
        assert_eq!(refused.len(), 8);
        for task in refused {
            let problem = task.await.unwrap().unwrap_err();
            assert_eq!(problem.kind(), "too-many-requests");
        }
        drop(ends);
        for task in of_ada {
            task.await.unwrap().unwrap();
        }
    }
}
