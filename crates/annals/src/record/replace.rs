//! Replaces changes in the bytes of a record and keeps all other bytes, including those of keys that this version does
//! not know.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use minicbor::Decoder;

use super::decode::{IndexedRecord, decode_record};
use super::encode::{encode_with_names, names_of};
use super::record_key;
use super::value::{Read, array, map};
use crate::model::Change;
use crate::{Error, ErrorKind, Position, Result};

/// An empty text, which replaces a name that no change needs any more.
const NO_NAME: &[u8] = &[0x60];

/// The record with new changes, which need no other names, instead of those with the numbers in `taken`, which ascend. Names
/// that only the replaced changes needed are removed.
///
/// Errors: `Corrupted` if the bytes are not a record; `NewerFormat`.
pub(crate) fn replace_changes(position: Position, bytes: &[u8], taken: &[(u32, Change)]) -> Result<Vec<u8>> {
    let record = IndexedRecord::new(position, bytes.to_vec())?;
    let spans = spans(bytes).map_err(|error| wrong(position, &error.to_string()))?;
    let instead = |number: u32| {
        let found = taken.binary_search_by_key(&number, |(number, _)| *number).ok();
        found.and_then(|at| taken.get(at)).map(|(_, change)| change)
    };
    let mut kept: Vec<Change> = Vec::new();
    for number in (0..).take(spans.changes.len()) {
        kept.push(instead(number).map_or_else(|| record.change(number), |change| Ok(change.clone()))?);
    }
    // The changes that use a name hold the same `Arc`. A name that no known change uses stays: data that this version
    // does not know may need it.
    let needed: HashSet<&str> = taken.iter().flat_map(|(_, change)| names_of(change)).collect();
    let is_held = |name: &Arc<str>| Arc::strong_count(name) > 1 || needed.contains(&**name);
    let is_held: Vec<bool> = record.names().iter().map(is_held).collect();
    let gone: Vec<Change> = taken.iter().map(|(number, _)| record.change(*number)).collect::<Result<_>>()?;
    let mut pieces: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
    // Order: names come before changes, so the pieces ascend.
    let names = record.names().iter().zip(is_held).zip(spans.names);
    pieces.extend(
        names
            .filter(|((name, is_held), _)| !is_held && Arc::strong_count(name) > 1)
            .map(|(_, span)| (span, NO_NAME.to_vec())),
    );
    drop(gone);
    for (number, span) in (0..).zip(spans.changes) {
        let Some(change) = instead(number) else { continue };
        let bytes = encode_with_names(change, record.names());
        pieces.push((span, bytes.ok_or_else(|| wrong(position, "a new change that needs other names"))?));
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut copied = 0;
    for (span, replacement) in pieces {
        out.extend_from_slice(bytes.get(copied..span.start).unwrap_or_default());
        out.extend_from_slice(&replacement);
        copied = span.end;
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    // The kept changes must decode as before.
    if decode_record(position, &out)?.changes != kept {
        return Err(wrong(position, "it reads differently after its changes were taken out"));
    }
    Ok(out)
}

fn wrong(position: Position, found: &str) -> Error {
    let text = format!("record {position}: expected a record whose changes can be taken out, found: {found}");
    Error::new(ErrorKind::Corrupted, text)
}

/// The offsets of names and changes in the bytes of a record.
#[derive(Default)]
struct Spans {
    names: Vec<Range<usize>>,
    changes: Vec<Range<usize>>,
}

fn spans(bytes: &[u8]) -> Read<Spans> {
    let mut input = Decoder::new(bytes);
    let mut spans = Spans::default();
    for _ in 0..map(&mut input)? {
        let list = match input.u32()? {
            record_key::NAMES => &mut spans.names,
            record_key::CHANGES => &mut spans.changes,
            _ => {
                input.skip()?;
                continue;
            }
        };
        for _ in 0..array(&mut input)? {
            let start = input.position();
            input.skip()?;
            list.push(start..input.position());
        }
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::actions as action;
    use crate::model::{Action, Id, InstanceId, NewEntity, Patch, Record};
    use crate::record::encode_record;

    /// A change map of one entry: action void.
    const VOID: &[u8] = &[0xA1, 0x00, 0x00];

    fn void(number: u32) -> (u32, Change) {
        (number, Action::Void(action::Void).into())
    }

    fn record(changes: Vec<Change>) -> Record {
        let (author, message) = ("ada".into(), "why".into());
        Record { author, message, changes, ..Record::default() }
    }

    #[test]
    fn taken_changes_leave_no_byte_and_others_stay() {
        let id = Id::new("secret id").unwrap();
        let secret = NewEntity { id: id.clone(), ..NewEntity::new("secret type") };
        let secret =
            Action::CreateEntity(secret.property("secret name", "secret value").property("shared", 1));
        let patch = Patch::new().set("shared", 2).unset("own");
        let kept = Action::Update(action::Update {
            instance: InstanceId::Entity(Id::new("kept").unwrap()),
            patch,
            provenance: None,
        });
        let changes: Vec<Change> = [secret, kept].map(Change::from).into();
        let bytes = encode_record(&record(changes.clone()));
        let voided = replace_changes(Position(7), &bytes, &[void(0)]).unwrap();
        let expected = record(vec![Action::Void(action::Void).into(), changes.last().unwrap().clone()]);
        assert_eq!(decode_record(Position(7), &voided).unwrap(), expected);
        assert!(!String::from_utf8_lossy(&voided).contains("secret"), "{voided:?}");
        // Replacing all changes leaves a record without names.
        let none = replace_changes(Position(7), &voided, &[void(0), void(1)]).unwrap();
        assert!(!String::from_utf8_lossy(&none).contains("shared"));
    }

    /// A newer version may have written keys that this one does not know.
    #[test]
    fn keys_that_are_not_known_stay() {
        let bytes = [
            // Names: of the type in both changes, of one only in the first, of one only in key 99.
            &[0xA4, 0x00, 0x00, 0x04, 0x83, 0x61, b't', 0x61, b'u', 0x61, b'v', 0x05, 0x83][..],
            &[0xA3, 0x00, 0x01, 0x01, 0x61, b'a', 0x02, 0x00],
            &[0xA3, 0x00, 0x01, 0x01, 0x61, b'c', 0x02, 0x01],
            // Key 99 of a change, and key 98 of the record.
            &[0xA4, 0x00, 0x01, 0x01, 0x61, b'b', 0x02, 0x00, 0x18, 99, 0x02],
            &[0x18, 98, 0x62, b'n', b'x'],
        ]
        .concat();
        let voided = replace_changes(Position(1), &bytes, &[void(0), void(1)]).unwrap();
        let expected = [
            &[0xA4, 0x00, 0x00, 0x04, 0x83, 0x61, b't', 0x60, 0x61, b'v', 0x05, 0x83][..],
            VOID,
            VOID,
            &[0xA4, 0x00, 0x01, 0x01, 0x61, b'b', 0x02, 0x00, 0x18, 99, 0x02],
            &[0x18, 98, 0x62, b'n', b'x'],
        ]
        .concat();
        assert_eq!(voided, expected);
    }
}
