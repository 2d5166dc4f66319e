//! Bounds the wait for a client: bodies must flow, and slow bodies leave room for other requests.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http_body::Frame;
use http_body_util::BodyExt;
use hyper::body::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::peers::{Kind, Peer, Share, enter};
use super::value::Bounds;
use crate::protocol::problem::Problem;

/// A body that has not arrived after this time counts as slow; the number of slow bodies is bounded.
const PROMPT_TIME: Duration = Duration::from_millis(500);
/// A body of any length may come at [`BODY_RATE_MIN`] up to so many bytes. Units: bytes.
const SLOW_BYTES_MAX: u64 = 16 << 20;
/// Lowest rate of the bytes after them: 1 GB then takes at most 4.5 hours. Units: bytes per second.
const LONG_BODY_RATE_MIN: u64 = 64 << 10;
/// Lowest rate of a body, after the first part of its time. Units: bytes per second.
const BODY_RATE_MIN: u32 = 16 << 10;

/// The wait for one body.
pub struct BodyWait<'b> {
    bounds: &'b Bounds,
    start: Instant,
    received: usize,
    peer: Arc<Peer>,
    slow: Option<(OwnedSemaphorePermit, Share)>,
}

impl<'b> BodyWait<'b> {
    /// Begins the wait.
    pub fn new(bounds: &'b Bounds, peer: Arc<Peer>) -> BodyWait<'b> {
        BodyWait { bounds, start: Instant::now(), received: 0, peer, slow: None }
    }

    /// The next part of the body; `None` at its end.
    ///
    /// Errors: `slow-request` if it comes too slowly; `busy` if it is slow and too many bodies are; `invalid-argument`
    /// if it breaks off.
    pub async fn next(&mut self, body: &mut Body) -> Result<Option<Frame<Bytes>>, Problem> {
        let frame = match self.slow {
            None => match timeout_at(self.start + PROMPT_TIME, body.frame()).await {
                Ok(frame) => frame,
                Err(_) => {
                    self.slow = Some(self.slow_permit()?);
                    self.next_slow(body).await?
                }
            },
            Some(_) => self.next_slow(body).await?,
        };
        let frame =
            frame.transpose().map_err(|error| Problem::invalid(format!("body: it broke off: {error}")))?;
        self.received += frame.as_ref().and_then(Frame::data_ref).map_or(0, Bytes::len);
        Ok(frame)
    }

    async fn next_slow(&self, body: &mut Body) -> Result<Option<Result<Frame<Bytes>, axum::Error>>, Problem> {
        let received = u32::try_from(self.received).unwrap_or(u32::MAX);
        // A sixth of the request's time is for delays before the first bytes; the rate counts only after it.
        let begin = self.bounds.limits.request_time / 6;
        let time = begin + Duration::from_secs(1) * received / BODY_RATE_MIN;
        timeout_at(self.start + time, body.frame()).await.map_err(|_| {
            let seconds = begin.as_secs_f32();
            let text = format!(
                "body: after {seconds} s expected {BODY_RATE_MIN} bytes a second, found {received} bytes in all; send it faster"
            );
            Problem::door("slow-request", text)
        })
    }

    fn slow_permit(&self) -> Result<(OwnedSemaphorePermit, Share), Problem> {
        let waits_max = self.bounds.limits.waits_max();
        enter(&self.bounds.gates.slow_bodies, (&self.peer, Kind::SlowBodies, waits_max), || {
            format!(
                "bodies: {waits_max} are being waited for; send the body with the head, or try again later"
            )
        })
    }
}

/// The wait for a body of any length. It counts only the time in which the server waits for the client, not the time in
/// which it works on earlier parts.
pub struct FlowWait<'b> {
    bounds: &'b Bounds,
    waited: Duration,
    received: u64,
}

impl<'b> FlowWait<'b> {
    /// Begins the wait.
    pub fn new(bounds: &'b Bounds) -> FlowWait<'b> {
        FlowWait { bounds, waited: Duration::ZERO, received: 0 }
    }

    /// The next part of the body; `None` at its end.
    ///
    /// Errors: `slow-request` if it does not come, or the body came too slowly; `invalid-argument` if it breaks off.
    pub async fn next(&mut self, body: &mut Body) -> Result<Option<Bytes>, Problem> {
        let body_time = self.bounds.limits.body_time();
        loop {
            let left = (body_time + earned_time(self.received)).saturating_sub(self.waited).min(body_time);
            let start = Instant::now();
            let frame = timeout_at(start + left, body.frame()).await.map_err(|_| {
                let text = format!(
                    "body: expected its next part within {} s, and {BODY_RATE_MIN} bytes a second of waiting \
                     ({LONG_BODY_RATE_MIN} after {SLOW_BYTES_MAX} bytes), found none behind {} bytes; send it again, faster",
                    body_time.as_secs_f32(),
                    self.received
                );
                Problem::door("slow-request", text)
            })?;
            self.waited += start.elapsed();
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| Problem::invalid(format!("body: it broke off: {error}")))?;
            let Ok(data) = frame.into_data() else { continue };
            self.received += data.len() as u64;
            return Ok(Some(data));
        }
    }
}

/// The time for which the server waits for a body, in return for this many bytes.
fn earned_time(received: u64) -> Duration {
    let slow = received.min(SLOW_BYTES_MAX);
    Duration::from_secs(slow / u64::from(BODY_RATE_MIN) + (received - slow) / LONG_BODY_RATE_MIN)
}

/// The right to wait for a position; dropping it returns it.
///
/// Errors: `busy` if too many requests wait for positions.
pub fn position_permit(bounds: &Bounds, peer: &Arc<Peer>) -> Result<(OwnedSemaphorePermit, Share), Problem> {
    let waits_max = bounds.limits.waits_max();
    enter(&bounds.gates.position_waits, (peer, Kind::PositionWaits, waits_max), || {
        format!("{waits_max} requests wait for positions; try again later")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_body_holds_its_place_for_some_hours_at_most() {
        assert_eq!(earned_time(1 << 20), Duration::from_secs(64));
        assert!(earned_time(1_000_000_000) < Duration::from_secs(5 * 3_600));
    }
}
