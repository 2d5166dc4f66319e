//! Refused requests in the server log: a line for each attempt, so that its operator sees who asks for what. A flood makes a
//! bounded number of lines.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant as Clock;

use http::StatusCode;

use crate::bounds::rate::Rate;
use crate::protocol::problem::Reason;

/// Lines at once.
const LINES_MAX: u32 = 100;
/// Further lines.
const LINES_PER_SECOND: u32 = 10;
/// Longest path, name and reason in a line. Units: characters.
const TEXT_MAX: usize = 500;

/// The client, as far as it is proven; an extension of an answer that refuses.
#[derive(Clone, Debug)]
pub struct Asker(pub String);

/// A refused request.
pub struct Refused<'r> {
    /// The address of the client; `None` without a connection.
    pub address: Option<IpAddr>,
    /// The method.
    pub method: &'r str,
    /// The path, without the query: its values may be secrets.
    pub path: &'r str,
    /// The status of the answer.
    pub status: StatusCode,
}

/// The lines that may be written now, and those left out.
#[derive(Debug)]
pub struct Refusals(Mutex<(Rate, u64)>);

impl Default for Refusals {
    fn default() -> Refusals {
        Refusals(Mutex::new((Rate::new(), 0)))
    }
}

impl Refusals {
    /// Writes the line of a refusal, unless there were too many.
    pub fn note(&self, refused: &Refused<'_>, asker: Option<&Asker>, reason: Option<&Reason>) {
        let Some(left_out) = self.turn(Clock::now()) else { return };
        let client = asker.map_or("unproven", |asker| &asker.0);
        let (kind, reason) = reason.map_or(("", ""), |reason| (reason.kind, &*reason.detail));
        let Refused { address, method, path, status } = refused;
        let address = address.map(|address| address.to_string()).unwrap_or_default();
        let (client, path, reason) = (cut(client), cut(path), cut(reason));
        let status = status.as_u16();
        tracing::warn!(
            target: "annals::access", client, address, method, path, status, kind, reason, left_out, "refused"
        );
    }

    /// The number of lines left out before this one; `None` if this one is left out, too.
    fn turn(&self, now: Clock) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (rate, left_out) = &mut *state;
        if rate.begins(LINES_PER_SECOND, LINES_MAX, now) {
            return Some(std::mem::take(left_out));
        }
        *left_out += 1;
        None
    }
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(TEXT_MAX).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_flood_of_refusals_makes_a_bounded_number_of_lines_and_tells_how_many_are_missing() {
        let (refusals, now) = (Refusals::default(), Clock::now());
        let written = (0..1_000).filter(|_| refusals.turn(now).is_some()).count();
        assert_eq!(written, 100);
        let later: Vec<_> = (0..20).filter_map(|_| refusals.turn(now + Duration::from_secs(1))).collect();
        assert_eq!((later.len(), later[0], later[1]), (10, 900, 0));
        assert_eq!(refusals.turn(now + Duration::from_secs(2)), Some(10));
    }
}
