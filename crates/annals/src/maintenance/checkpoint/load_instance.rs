//! Reads instances out of a checkpoint.

use std::sync::Arc;

use super::block::{Input, Loaded, damaged};
use crate::graph::instance::headers::HeaderNumber;
use crate::graph::instance::past::{Past, PastVersion, Place};
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::{Classification, Instance, Stamp};
use crate::graph::structures::symbols::Symbol;
use crate::model::Status;
use crate::record::decode_value_from;

pub(crate) fn instance(input: &mut Input) -> Loaded<Instance> {
    let status = match input.u8()? {
        1 => Status::Active,
        2 => Status::Deleted,
        _ => return Err(damaged("a status")),
    };
    let id = input.id()?;
    let type_name = Symbol(input.small()?);
    let [version, versions, base, since_anchor] =
        [input.small()?, input.small()?, input.small()?, input.small()?];
    let (created, updated) = (stamp(input)?, stamp(input)?);
    let valid_from = input.signed()?;
    let live_from = input.signed()?.wrapping_add(valid_from);
    let place = Place { position: input.number()?, change: input.small()? };
    let changed = input.number()?;
    let ends = [input.small()?.wrapping_sub(1), input.small()?.wrapping_sub(1)];
    let header = HeaderNumber(input.small()?);
    let properties = properties(input)?;
    let mut classifications = Vec::new();
    for _ in 0..input.number()? {
        classifications.push(Classification {
            name: Symbol(input.small()?),
            version: input.small()?,
            header: HeaderNumber(input.small()?),
            created: stamp(input)?,
            updated: stamp(input)?,
            properties: self::properties(input)?,
        });
    }
    let past = past(input)?;
    let mut instance = Instance {
        id,
        type_name,
        status,
        header,
        version,
        versions,
        created,
        updated,
        valid_from,
        live_from,
        base,
        place,
        since_anchor,
        changed,
        ends,
        properties,
        classifications: None,
        past,
    };
    instance.set_classifications(classifications);
    Ok(instance)
}

pub(crate) fn past(input: &mut Input) -> Loaded<Option<Arc<Past>>> {
    let mut past = None;
    for _ in 0..input.number()? {
        let this = PastVersion {
            version: input.small()?,
            base: input.small()?,
            status: if input.u8()? == 0 { Status::Active } else { Status::Deleted },
            header: HeaderNumber(input.small()?),
            place: Place { position: input.number()?, change: input.small()? },
            valid_from: input.signed()?,
        };
        past = Some(Past::push(past, this));
    }
    Ok(past)
}

fn stamp(input: &mut Input) -> Loaded<Stamp> {
    Ok(Stamp { micros: input.signed()?, author: Symbol(input.small()?) })
}

fn properties(input: &mut Input) -> Loaded<Properties> {
    let mut entries = Vec::new();
    for _ in 0..input.number()? {
        let name = Symbol(input.small()?);
        let (value, length) = decode_value_from(input.peek()).ok_or_else(|| damaged("a value"))?;
        input.take(length)?;
        entries.push((name, value));
    }
    Ok(Properties::from_entries(entries))
}
