//! Provenance, and copies of instances of other collections, as CBOR.

use std::sync::Arc;

use minicbor::Decoder;

use super::coded_id::{decode_id, encode_id};
use super::provenance_key;
use super::sink::Sink;
use super::value::{Read, code_of, malformed, map, variant};
use crate::model::{Instant, Provenance, ProvenanceKind, Stamp};

/// Appends the CBOR form of a provenance.
pub(crate) fn encode_provenance_into(provenance: &Provenance, out: &mut Vec<u8>) {
    encode_provenance(&mut Sink::new(out), provenance);
}

/// The provenance encoded in `bytes`; `None` for other bytes.
pub(crate) fn decode_provenance_from(bytes: &[u8]) -> Option<Provenance> {
    decode_provenance(&mut Decoder::new(bytes)).ok()
}

pub(super) fn encode_provenance(out: &mut Sink, provenance: &Provenance) {
    let Provenance { home, kind, replicated_by, license, maintained_by, mappings, .. } = provenance;
    let instants = [
        (provenance_key::EFFECTIVE_FROM, provenance.effective_from),
        (provenance_key::EFFECTIVE_TO, provenance.effective_to),
    ];
    let texts = [
        (provenance_key::HOME, home),
        (provenance_key::REPLICATED_BY, replicated_by),
        (provenance_key::LICENSE, license),
    ];
    let entries = texts.iter().filter(|(_, text)| text.is_some()).count()
        + instants.iter().filter(|(_, instant)| instant.is_some()).count()
        + usize::from(*kind != ProvenanceKind::Local)
        + usize::from(!maintained_by.is_empty())
        + usize::from(!mappings.is_empty())
        + usize::from(provenance.propagated_from.is_some());
    out.map(entries);
    for (key, text) in texts {
        out.some_str(key, text.as_deref());
    }
    if *kind != ProvenanceKind::Local {
        let code = code_of(&ProvenanceKind::ALL, *kind);
        out.entry(provenance_key::KIND, code);
    }
    out.some_list(provenance_key::MAINTAINED_BY, maintained_by, |out, text| _ = out.str(text));
    if !mappings.is_empty() {
        out.put(provenance_key::MAPPINGS).map(mappings.len());
        for (key, text) in mappings {
            out.str(key).str(text);
        }
    }
    for (key, instant) in instants {
        out.some(key, instant, |out, instant| _ = out.put(instant.micros()));
    }
    out.some(provenance_key::PROPAGATED_FROM, provenance.propagated_from.as_ref(), |out, id| {
        encode_id(out, id)
    });
}

pub(super) fn decode_provenance(input: &mut Decoder) -> Read<Provenance> {
    let mut provenance = Provenance::default();
    for _ in 0..map(input)? {
        match input.u32()? {
            provenance_key::HOME => provenance.home = Some(input.str()?.into()),
            provenance_key::REPLICATED_BY => provenance.replicated_by = Some(input.str()?.into()),
            provenance_key::LICENSE => provenance.license = Some(input.str()?.into()),
            provenance_key::KIND => {
                let unknown = "a provenance is of no known kind";
                provenance.kind = variant(&ProvenanceKind::ALL, input.u32()?, unknown)?;
            }
            provenance_key::MAINTAINED_BY => {
                provenance.maintained_by = crate::record::texts::texts(input)?;
            }
            provenance_key::MAPPINGS => {
                for _ in 0..map(input)? {
                    let key: Arc<str> = input.str()?.into();
                    provenance.mappings.insert(key, input.str()?.into());
                }
            }
            provenance_key::EFFECTIVE_FROM => provenance.effective_from = Some(instant(input)?),
            provenance_key::EFFECTIVE_TO => provenance.effective_to = Some(instant(input)?),
            provenance_key::PROPAGATED_FROM => provenance.propagated_from = Some(decode_id(input)?),
            _ => input.skip()?,
        }
    }
    Ok(provenance)
}

pub(super) fn instant(input: &mut Decoder) -> Read<Instant> {
    Instant::from_micros(input.i64()?).map_err(|_| malformed("an instant is out of range"))
}

/// The header that a copy has at its home. Shape: version, created instant, author, updated instant, author.
pub(super) fn encode_origin(out: &mut Sink, version: u32, created: &Stamp, updated: &Stamp) {
    out.array(5).put(version);
    for stamp in [created, updated] {
        out.put(stamp.instant.micros()).str(&stamp.author);
    }
}

pub(super) fn decode_origin(input: &mut Decoder) -> Read<(u32, Stamp, Stamp)> {
    let length = super::value::array(input)?;
    if length < 5 {
        return Err(malformed("the origin of a copy does not have five parts"));
    }
    let version = input.u32()?;
    let mut stamp = || Ok(Stamp { instant: instant(input)?, author: input.str()?.into() });
    let (created, updated) = (stamp()?, stamp()?);
    super::value::skip_rest(input, length, 5)?;
    Ok((version, created, updated))
}
