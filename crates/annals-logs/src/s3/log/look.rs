//! Finds the calls behind the last one that is known, and proves now and then that the log is still the one that was read.

use std::sync::Arc;
use std::time::Duration;

use annals::{Error, ErrorKind, Position, Result};
use object_store::path::Path;

use super::call::{CallHeader, HEADER_BYTES, wide};
use super::chain::KnownCall;
use super::manifest::End;
use super::manifest_object::{self, FOLDER, KnownManifest};
use super::shared_log::{SharedLog, call_name, parse_call_name};
use crate::s3::object_requests::{Asked, Found, Wanted};
use crate::s3::request_failure::RequestFailure;

/// A look gets so much of a call: all of a small one. Units: bytes.
pub(super) const PIECE_BYTES: u64 = 64 << 10;
/// Calls that are asked for at a time.
const AHEAD_MAX: usize = 32;
/// After so many calls one by one, the names of further ones are asked for.
const ONE_BY_ONE_MAX: usize = 8;
/// How often it is proven that the log is the one that was read.
const PROVE_EVERY: Duration = Duration::from_secs(1);

/// Finds the end of the log.
///
/// Errors: those of the requests; `Unavailable` if it is another log; `Corrupted`.
pub(super) fn look(shared: &SharedLog) -> Result<End> {
    let mut found = 0;
    loop {
        let end = shared.end();
        match get_call(shared, end.position.next())? {
            None if shared.end() == end => return Ok(end),
            None => {}
            Some(call) => note(shared, end, call)?,
        }
        found += 1;
        if found == ONE_BY_ONE_MAX {
            look_far(shared)?;
        }
    }
}

/// Finds many calls, by their names, and gets them together. Shape: the first name behind a gap, if there is one.
///
/// Errors: as [`look`].
pub(super) fn look_far(shared: &SharedLog) -> Result<Option<Position>> {
    loop {
        let before = shared.end();
        let page = shared.bucket().names_after(FOLDER, &call_name(before.position));
        let (names, has_more) = page.map_err(|failure| failure.into_error(FOLDER))?;
        let firsts: Vec<Position> = names.iter().map_while(|name| parse_call_name(name)).collect();
        for firsts in firsts.chunks(AHEAD_MAX) {
            take_all(shared, firsts)?;
        }
        let is_last = !has_more || firsts.len() < names.len();
        let end = shared.end();
        if is_last || end == before {
            return Ok(firsts.into_iter().find(|first| *first > end.position));
        }
    }
}

/// Gets these calls at the same time, and notes those that follow the end.
fn take_all(shared: &SharedLog, firsts: &[Position]) -> Result<()> {
    let ask = |first: &Position| {
        let asked = ask_for_call(shared, shared.key(&call_name(*first))?);
        Ok((*first, asked))
    };
    let asked = firsts.iter().map(ask).collect::<Result<Vec<(Position, Asked)>>>()?;
    for (first, asked) in asked {
        let end = shared.end();
        if first != end.position.next() {
            continue;
        }
        let found = match shared.bucket().found(&asked) {
            Ok(found) => read_call(shared, first, found)?,
            // It is asked for again.
            Err(_) => get_call(shared, first)?.ok_or_else(|| shared.lost("found fewer"))?,
        };
        note(shared, end, found)?;
    }
    Ok(())
}

fn ask_for_call(shared: &SharedLog, key: Path) -> Asked {
    shared.bucket().get_ahead(key, Wanted::range(0, PIECE_BYTES), PIECE_BYTES)
}

/// The call that begins at a position; `None` if none does.
///
/// Errors: those of the request; `Corrupted`; `NewerFormat`.
pub(super) fn get_call(shared: &SharedLog, first: Position) -> Result<Option<KnownCall>> {
    let name = call_name(first);
    match shared.bucket().get(&shared.key(&name)?, &Wanted::range(0, PIECE_BYTES)) {
        Ok(found) => read_call(shared, first, found).map(Some),
        Err(RequestFailure::Missing) => Ok(None),
        Err(failure) => Err(failure.into_error(&name)),
    }
}

/// The header of the call that begins at a position, which is there.
pub(super) fn header_of(shared: &SharedLog, first: Position, bytes: &[u8]) -> Result<CallHeader> {
    let name = call_name(first);
    let (header, _) = CallHeader::decode(bytes).map_err(|error| shared.damaged(&name, &error))?;
    if header.first == first {
        return Ok(header);
    }
    let text = format!("expected the call at {first}, found the one at {}", header.first);
    Err(shared.damaged(&name, &Error::new(ErrorKind::Corrupted, text)))
}

fn read_call(shared: &SharedLog, first: Position, found: Found) -> Result<KnownCall> {
    let header = header_of(shared, first, &found.bytes)?;
    if header.whole_bytes() != found.size {
        let text = format!("expected {} bytes, found {}", header.whole_bytes(), found.size);
        return Err(shared.damaged(&call_name(first), &Error::new(ErrorKind::Corrupted, text)));
    }
    Ok(KnownCall::of(&header, found.bytes))
}

/// Notes the call that was found behind `end`.
///
/// Errors: `Unavailable` if it follows another one.
pub(super) fn note(shared: &SharedLog, end: End, call: KnownCall) -> Result<()> {
    if call.previous == end.token {
        shared.push(call);
        return Ok(());
    }
    // The end may be that of an earlier look.
    if shared.end() != end {
        return Ok(());
    }
    Err(shared
        .another(&format!("the call at {} follows another one than the one that ends there", call.first)))
}

/// The questions whose answers prove that the log is the one that was read: they are sent together with others.
pub(super) struct Proof {
    /// The manifest that is known when they are sent.
    known: Arc<KnownManifest>,
    manifest: Asked,
    /// The last call that is known.
    call: Option<(KnownCall, Asked)>,
}

/// Asks for the proof, if the last one is not of a moment ago.
pub(super) fn begin_proof(shared: &SharedLog) -> Result<Option<Proof>> {
    if !shared.is_unproven(PROVE_EVERY) {
        return Ok(None);
    }
    ask_for_proof(shared).map(Some)
}

fn ask_for_proof(shared: &SharedLog) -> Result<Proof> {
    let bucket = shared.bucket();
    let known = shared.known();
    let unless = manifest_object::unless(&known);
    let manifest = bucket.get_ahead(manifest_object::key(bucket)?, unless, 0);
    let call = match shared.last_call() {
        Some(call) => {
            let key = shared.key(&call_name(call.first))?;
            let asked = bucket.get_ahead(key, Wanted::range(0, wide(HEADER_BYTES)), 0);
            Some((call, asked))
        }
        None => None,
    };
    Ok(Proof { known, manifest, call })
}

/// Waits for the answers, and takes over a newer manifest.
///
/// Errors: `Unavailable` if it is another log, or one that went back; those of the requests.
pub(super) fn end_proof(shared: &SharedLog, proof: &Proof) -> Result<()> {
    match shared.bucket().found(&proof.manifest) {
        Ok(found) => {
            let found = manifest_object::decode(shared.bucket(), found)?;
            shared.take_manifest(found, &proof.known.manifest)?;
        }
        Err(RequestFailure::Unmet) => {}
        Err(RequestFailure::Missing) => return Err(shared.another("found no manifest")),
        Err(failure) => return Err(failure.into_error("manifest")),
    }
    if let Some((call, asked)) = &proof.call {
        let header = match shared.bucket().found(asked) {
            Ok(found) => header_of(shared, call.first, &found.bytes)?,
            Err(RequestFailure::Missing) => return Err(shared.lost("found fewer")),
            Err(failure) => return Err(failure.into_error(&call_name(call.first))),
        };
        if (header.last, header.token) != (call.last, call.token) {
            return Err(shared.lost("found another call there"));
        }
    }
    shared.note_proven();
    Ok(())
}

/// Reads the manifest anew.
///
/// Errors: as [`end_proof`].
pub(super) fn refresh(shared: &SharedLog) -> Result<()> {
    let before = shared.known();
    let Some(found) = manifest_object::load(shared.bucket())? else {
        return Err(shared.another("found no manifest"));
    };
    shared.take_manifest(found, &before.manifest)
}
