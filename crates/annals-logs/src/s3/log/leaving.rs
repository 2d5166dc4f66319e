//! The bytes that leave the bucket after a rewriting: they are listed before the rewriting is in force, and removed afterwards, by any
//! writer.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use annals::{Error, ErrorKind, Position, Result};
use object_store::aws::AmazonS3;
use object_store::path::Path;
use object_store::{Error as Told, ObjectStore, PutOptions, PutPayload};

use super::call::{CallHeader, HEADER_BYTES, wide};
use super::look::refresh;
use super::manifest::Manifest;
use super::manifest_object::FOLDER;
use super::merge::{ChangeName, put_in_force};
use super::read_records::{SEGMENTS, segment_key};
use super::shared_log::{SharedLog, call_name};
use crate::s3::object_requests::{Wanted, get, if_same};
use crate::s3::request_failure::RequestFailure;
use crate::s3::upload::put_bytes;

/// The folder of lists below that of the log.
const LISTS: &str = "leaving";
const BEGINNING: &str = "annals leaving 1";
/// Calls that lose their records at a time.
const AHEAD_MAX: usize = 16;
/// Tries to take the records out of a call that others change, too.
const TRIES_MAX: usize = 3;

/// The objects that leave the bucket, or lose their records, once a rewriting is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Leaving {
    /// Names.
    pub segments: Vec<String>,
    /// The first positions of calls whose objects become stubs.
    pub calls: Vec<Position>,
}

impl Leaving {
    fn encode(&self) -> Vec<u8> {
        let mut text = format!("{BEGINNING}\n");
        for name in &self.segments {
            // Writing to memory cannot fail.
            let _ = writeln!(text, "segment {name}");
        }
        for first in &self.calls {
            let _ = writeln!(text, "call {first}");
        }
        let sum = crc32c::crc32c(text.as_bytes());
        let _ = writeln!(text, "sum {sum:08x}");
        text.into_bytes()
    }

    fn decode(bytes: &[u8]) -> Option<Leaving> {
        let text = std::str::from_utf8(bytes).ok()?;
        let (lines, sum) = text.trim_end().rsplit_once('\n')?;
        let lines = format!("{lines}\n");
        if sum != format!("sum {:08x}", crc32c::crc32c(lines.as_bytes()))
            || lines.lines().next()? != BEGINNING
        {
            return None;
        }
        let mut leaving = Leaving::default();
        for line in lines.lines().skip(1) {
            match line.split_once(' ')? {
                ("segment", name) => leaving.segments.push(name.to_owned()),
                ("call", first) => leaving.calls.push(Position(first.parse().ok()?)),
                _ => return None,
            }
        }
        Some(leaving)
    }
}

fn list_key(shared: &SharedLog, name: &str) -> Result<Path> {
    shared.key(&format!("{LISTS}/{name}"))
}

/// Puts the list of a change that is not in force yet.
pub(super) fn put_list(shared: &SharedLog, name: ChangeName, leaving: &Leaving) -> Result<()> {
    let name = name.to_string();
    let put = put_bytes(shared.bucket(), &list_key(shared, &name)?, leaving.encode(), false);
    put.map_err(|failure| failure.into_error(&name))
}

/// Removes the list of a change that never comes in force.
pub(super) fn remove_list(shared: &SharedLog, name: ChangeName) {
    // If it stays, it is unnamed.
    let _ = list_key(shared, &name.to_string()).map(|key| shared.bucket().remove(&key));
}

/// Removes what leaves the bucket, and objects that no change brings any more. The caller holds the upkeep.
///
/// Errors: those of the requests; what is left is removed by the next one.
pub(super) fn clean(shared: &SharedLog) -> Result<()> {
    refresh(shared)?;
    let known = shared.known();
    for name in &known.manifest.leaving {
        remove_listed(shared, name)?;
    }
    remove_unnamed(shared, &known.manifest)?;
    if known.manifest.leaving.is_empty() {
        return Ok(());
    }
    let mut next = known.manifest.changed();
    next.leaving.clear();
    put_in_force(shared, Ok(next), &known, &[])
}

fn remove_listed(shared: &SharedLog, name: &str) -> Result<()> {
    let key = list_key(shared, name)?;
    let found = match shared.bucket().get(&key, &Wanted::default()) {
        Ok(found) => found,
        // Another process has done it.
        Err(RequestFailure::Missing) => return Ok(()),
        Err(failure) => return Err(failure.into_error(name)),
    };
    let leaving = Leaving::decode(&found.bytes).ok_or_else(|| {
        let damage = Error::new(ErrorKind::Corrupted, "expected a list of what leaves, found other bytes");
        shared.damaged(&format!("{LISTS}/{name}"), &damage)
    })?;
    for calls in leaving.calls.chunks(AHEAD_MAX) {
        take_records_out(shared, calls)?;
    }
    for segment in &leaving.segments {
        let removed = shared.bucket().remove(&segment_key(shared, segment)?);
        removed.map_err(|failure| failure.into_error(segment))?;
    }
    shared.bucket().remove(&key).map_err(|failure| failure.into_error(name))
}

/// Makes stubs of the objects of calls.
fn take_records_out(shared: &SharedLog, calls: &[Position]) -> Result<()> {
    let mut left = calls.to_vec();
    for _ in 0..TRIES_MAX {
        let ask = |first: &Position| {
            let key = shared.key(&call_name(*first))?;
            Ok((
                *first,
                shared.bucket().ask_ahead(wide(HEADER_BYTES), move |objects| make_stub(objects, key)),
            ))
        };
        let asked = left.iter().map(ask).collect::<Result<Vec<_>>>()?;
        left.clear();
        let mut problem = None;
        for (first, told) in asked {
            match shared.bucket().answer(wide(HEADER_BYTES), &told) {
                Ok(()) => {}
                Err(failure) => {
                    left.push(first);
                    problem = Some(failure.into_error(&call_name(first)));
                }
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        if problem.as_ref().is_some_and(|error| error.kind() == ErrorKind::InvalidArgument) {
            return problem.map_or(Ok(()), Err);
        }
    }
    let first = left.first().copied().unwrap_or_default();
    let text =
        format!("{}: the call at {first} could not be changed; it is tried again later", shared.describe());
    Err(Error::new(ErrorKind::Unavailable, text))
}

/// Leaves of a call only its header, unless it is so already. A change under way of another process makes it fail.
async fn make_stub(objects: Arc<AmazonS3>, key: Path) -> object_store::Result<()> {
    let found = get(Arc::clone(&objects), key.clone(), Wanted::range(0, wide(HEADER_BYTES))).await?;
    let (header, _) = CallHeader::decode(&found.bytes)
        .map_err(|error| Told::Generic { store: "annals", source: error.to_string().into() })?;
    if header.is_stub {
        return Ok(());
    }
    let mode = if_same(found.e_tag.as_ref());
    objects.put_opts(&key, PutPayload::from(header.stub()), PutOptions::from(mode)).await.map(drop)
}

/// Removes segments and lists that no manifest names any more: those of changes that were forestalled or interrupted.
fn remove_unnamed(shared: &SharedLog, manifest: &Manifest) -> Result<()> {
    let named: HashSet<&str> = manifest.segments.iter().map(|segment| &*segment.name).collect();
    let named: HashSet<&str> = named.into_iter().chain(manifest.leaving.iter().map(String::as_str)).collect();
    for folder in [SEGMENTS, LISTS] {
        let (mut after, mut has_more) = (String::new(), true);
        while has_more {
            let page = shared.bucket().names_after(&format!("{FOLDER}/{folder}"), &after);
            let (names, more) = page.map_err(|failure| failure.into_error(folder))?;
            has_more = more;
            let Some(last) = names.last() else { break };
            after.clone_from(last);
            let is_over =
                |name: &str| ChangeName::parse(name).is_some_and(|name| name.version <= manifest.version);
            for name in names.iter().filter(|name| is_over(name) && !named.contains(name.as_str())) {
                let removed = shared.bucket().remove(&shared.key(&format!("{folder}/{name}"))?);
                removed.map_err(|failure| failure.into_error(name))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_back_and_damage_is_found() {
        let leaving = Leaving { segments: vec!["a".to_owned()], calls: vec![Position(1), Position(9)] };
        let bytes = leaving.encode();
        assert_eq!(Leaving::decode(&bytes), Some(leaving));
        for at in 0..bytes.len() - 1 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(
                Leaving::decode(&damaged).is_none() && Leaving::decode(&bytes[..at]).is_none(),
                "byte {at}"
            );
        }
    }
}
