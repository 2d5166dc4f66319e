//! Appends a call by one put, and finds out what became of one that was sent before.

use std::sync::PoisonError;
use std::time::Duration;

use annals::log::{Appended, Call, Term, Token};
use annals::{Error, ErrorKind, Position, Result};
use bytes::Bytes;
use object_store::PutPayload;

use super::call::{CallHeader, wide};
use super::chain::KnownCall;
use super::look::{PIECE_BYTES, begin_proof, end_proof, get_call, look, note, refresh};
use super::manifest::End;
use super::manifest_object::swap;
use super::shared_log::{SharedLog, call_name, is_another};
use crate::call_body::Body;
use crate::s3::object_requests::if_new;
use crate::s3::request_failure::RequestFailure;

/// How often a call is put again that the service refused because of another put under way, or that others forestalled.
const TRIES_MAX: usize = 8;
const PAUSE: Duration = Duration::from_millis(20);

/// Appends a call.
pub(super) fn append(shared: &SharedLog, call: &Call<'_>) -> Appended {
    let sent = match SentCall::new(call) {
        Ok(sent) => sent,
        Err(error) => return Appended::Refused(error),
    };
    if let Err(error) = begin_term(shared, call.term) {
        return Appended::Refused(error);
    }
    shared.wait_for_turn();
    for _ in 0..TRIES_MAX {
        let end = shared.end();
        if sent.header.first <= end.position {
            return look_up(shared, &sent.header);
        }
        if sent.header.first == end.position.next() {
            if let Some(outcome) = put(shared, &sent, end) {
                return outcome;
            }
            continue;
        }
        // Nothing was sent yet.
        match look(shared) {
            Ok(found) if found.position.next() >= sent.header.first => {}
            Ok(found) => return Appended::Refused(gap(shared, found.position, sent.header.first)),
            Err(error) => return Appended::Refused(error),
        }
    }
    let at = sent.header.first;
    let text = format!("{}: the log changes too fast to append at {at}; try again", shared.describe());
    Appended::Unknown(Error::new(ErrorKind::Unavailable, text))
}

/// Before the first call of a term: changes the version of the manifest, so that what a writer before has prepared is never in
/// force. The engine reads the log to its end behind the record of the term, and so learns what was in force until then.
fn begin_term(shared: &SharedLog, term: Term) -> Result<()> {
    if !shared.is_new_term(term) {
        return Ok(());
    }
    let _one = shared.upkeep.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..TRIES_MAX {
        refresh(shared)?;
        let known = shared.known();
        if let Some(found) = swap(shared.bucket(), &known, known.manifest.changed())? {
            shared.take_manifest(found, &known.manifest)?;
            shared.note_term(term);
            return Ok(());
        }
    }
    let text = format!("{}: its manifest changes too fast to begin a term; try again", shared.describe());
    Err(Error::new(ErrorKind::Unavailable, text))
}

fn gap(shared: &SharedLog, tail: Position, found: Position) -> Error {
    let text = format!(
        "{}: expected position {}, found {found}; append at tail + 1",
        shared.describe(),
        tail.next()
    );
    Error::new(ErrorKind::InvalidArgument, text)
}

/// A call as it is sent.
struct SentCall {
    header: CallHeader,
    body: Body,
}

impl SentCall {
    /// Errors: `TooLarge`.
    fn new(call: &Call<'_>) -> Result<SentCall> {
        let bytes = call.records.iter().map(|record| record.len()).sum();
        let body = Body::encode(call.records.iter().copied(), bytes)?;
        let header = CallHeader {
            first: call.at,
            last: Position(call.at.0.saturating_add(wide(call.records.len())).saturating_sub(1)),
            token: call.token,
            term: call.term,
            previous: Token(0),
            body_bytes: wide(bytes),
            is_stub: false,
        };
        Ok(SentCall { header, body })
    }
}

/// Puts a call behind `end`, the last one. Shape: `None` if it is to be tried again.
fn put(shared: &SharedLog, sent: &SentCall, end: End) -> Option<Appended> {
    let header = CallHeader { previous: end.token, ..sent.header };
    let name = call_name(header.first);
    let ready = shared.key(&name).and_then(|key| Ok((key, begin_proof(shared)?)));
    let (key, proof) = match ready {
        Ok(ready) => ready,
        Err(error) => return Some(Appended::Refused(error)),
    };
    let mut bytes = header.encode(&sent.body.index);
    bytes.extend_from_slice(&sent.body.body);
    let bytes = Bytes::from(bytes);
    match shared.bucket().put(&key, PutPayload::from(bytes.clone()), if_new()) {
        Ok(_) => {
            // A merging needs the bytes of small calls soon.
            let is_small = wide(bytes.len()) <= PIECE_BYTES;
            shared.push(KnownCall::of(&header, if is_small { bytes } else { Bytes::new() }));
            let proven = proof.map_or(Ok(()), |proof| end_proof(shared, &proof));
            // It is behind a call that is not there any more, or in another log.
            Some(match proven {
                Err(error) if is_another(&error) => Appended::Lost(error),
                _ => Appended::Stored,
            })
        }
        Err(RequestFailure::Unmet) => met(shared, &header, end),
        Err(RequestFailure::Unanswered(error)) => Some(Appended::Unknown(error)),
        Err(failure) => Some(Appended::Refused(failure.into_error(&name))),
    }
}

/// The outcome of a put that met an object, or another put under way.
fn met(shared: &SharedLog, header: &CallHeader, end: End) -> Option<Appended> {
    match get_call(shared, header.first) {
        Ok(Some(found)) => {
            let is_own = found.token == header.token;
            Some(match note(shared, end, found) {
                Err(error) => Appended::Refused(error),
                Ok(()) if is_own => Appended::Stored,
                Ok(()) => Appended::Taken,
            })
        }
        Ok(None) => {
            std::thread::sleep(PAUSE);
            None
        }
        Err(error) => Some(Appended::Unknown(error)),
    }
}

/// The outcome of a call whose position is taken.
fn look_up(shared: &SharedLog, header: &CallHeader) -> Appended {
    match get_call(shared, header.first) {
        Ok(Some(found)) if found.token == header.token => Appended::Stored,
        // Positions within a call have no object.
        Ok(_) => Appended::Taken,
        Err(error) => Appended::Unknown(error),
    }
}
