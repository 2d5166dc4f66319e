//! Reads past versions out of a checkpoint.

use std::sync::Arc;

use super::block::{Input, Loaded};
use crate::graph::instance::headers::HeaderNumber;
use crate::graph::instance::past::{ChangePlace, Past, PastVersion};
use crate::model::Status;

/// The versions of an instance that are not in force.
pub(crate) fn past(input: &mut Input) -> Loaded<Option<Arc<Past>>> {
    let mut past = None;
    for _ in 0..input.number()? {
        let this = PastVersion {
            version: input.small()?,
            base: input.small()?,
            status: if input.u8()? == 0 { Status::Active } else { Status::Deleted },
            header: HeaderNumber(input.small()?),
            place: ChangePlace { position: input.number()?, change: input.small()? },
            valid_from: input.signed()?,
        };
        past = Some(Past::push(past, this));
    }
    Ok(past)
}
