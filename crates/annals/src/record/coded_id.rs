//! Ids: the bytes of a UUID, or a text.

use minicbor::Decoder;
use minicbor::data::Type;

use super::sink::Sink;
use super::value::{Read, malformed};
use crate::model::Id;

pub(super) fn encode_id(out: &mut Sink, id: &Id) {
    match id.uuid_bytes() {
        Some(bytes) => out.bytes(bytes),
        None => out.str(id.text().unwrap_or_default()),
    };
}

pub(super) fn decode_id(input: &mut Decoder) -> Read<Id> {
    match input.datatype()? {
        Type::Bytes => {
            let bytes = input.bytes()?.try_into().map_err(|_| malformed("an id of bytes has 16 of them"))?;
            Ok(Id::from_uuid_bytes(bytes))
        }
        _ => Id::new(input.str()?).map_err(|_| malformed("a text id breaks the rules of ids")),
    }
}
