//! Records as bytes: CBOR with integer keys, described byte by byte in `docs/formats.md`.

#![cfg_attr(not(test), deny(clippy::as_conversions, clippy::indexing_slicing))]

mod binary;
mod decode;
mod encode;
mod coded_id;
mod named_contents;
mod provenance;
mod sink;
mod term;
mod type_definition;
mod value;
mod replace;

pub(crate) use decode::{IndexedRecord, decode_record};
pub(crate) use encode::{RecordBody, encode_record};
pub(crate) use named_contents::{CANDIDATE, RECORDS_PROPERTY, each_content_in, each_named_content};
pub(crate) use provenance::{decode_provenance_from, encode_provenance_into};
pub(crate) use replace::replace_changes;
pub(crate) use term::{encode_term, term_of};
pub(crate) use value::{decode_value_from, encode_value_into};

/// Largest record. Units: bytes of its CBOR form.
pub const RECORD_BYTES_MAX: usize = 64 << 20;
/// Most changes in one transaction.
pub const CHANGES_MAX: usize = 1 << 20;

/// Keys of the record map.
mod record_key {
    pub const INSTANT: u32 = 0;
    pub const AUTHOR: u32 = 1;
    pub const MESSAGE: u32 = 2;
    pub const VALID_FROM: u32 = 3;
    pub const NAMES: u32 = 4;
    pub const CHANGES: u32 = 5;
    pub const TERM: u32 = 6;
    pub const IDEMPOTENCY_KEY: u32 = 7;
}

/// Keys of a change map.
mod change_key {
    pub const ACTION: u32 = 0;
    pub const ID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const PROPERTIES: u32 = 3;
    pub const FROM: u32 = 4;
    pub const TO: u32 = 5;
    pub const VALID_FROM: u32 = 6;
    pub const PATCH: u32 = 7;
    pub const ANCHOR: u32 = 8;
    pub const CLASSIFICATIONS: u32 = 9;
    pub const WITH_RELATIONSHIPS: u32 = 10;
    pub const TYPE: u32 = 11;
    pub const STATUS: u32 = 12;
    pub const PROVENANCE: u32 = 13;
    pub const NEW_ID: u32 = 14;
    pub const TEXT: u32 = 15;
    pub const ORIGIN: u32 = 16;
    pub const COPIED: u32 = 17;
    pub const INSTANCES: u32 = 18;
}

/// Codes of patch steps.
mod step_code {
    pub const SET: u32 = 0;
    pub const UNSET: u32 = 1;
    pub const ADD: u32 = 2;
    pub const REMOVE: u32 = 3;
    pub const CLEAR: u32 = 4;
}

/// Keys of a provenance map.
mod provenance_key {
    pub const HOME: u32 = 0;
    pub const KIND: u32 = 1;
    pub const REPLICATED_BY: u32 = 2;
    pub const LICENSE: u32 = 3;
    pub const MAINTAINED_BY: u32 = 4;
    pub const MAPPINGS: u32 = 5;
    pub const EFFECTIVE_FROM: u32 = 6;
    pub const EFFECTIVE_TO: u32 = 7;
    pub const PROPAGATED_FROM: u32 = 8;
}

/// Keys of a type map.
mod type_key {
    pub const KIND: u32 = 0;
    pub const NAME: u32 = 1;
    pub const DESCRIPTION: u32 = 2;
    pub const SUPERTYPES: u32 = 3;
    pub const CLOSED: u32 = 4;
    pub const ATTRIBUTES: u32 = 5;
    pub const ENDS: u32 = 6;
    pub const APPLIES_TO: u32 = 7;
    pub const PROPAGATABLE: u32 = 8;
    pub const STATUSES: u32 = 9;
    pub const INITIAL_STATUS: u32 = 10;
    pub const ELEMENTS: u32 = 11;
    pub const DEPRECATION: u32 = 12;
    pub const EXTERNAL_ID: u32 = 13;
    pub const VERSION: u32 = 14;
    pub const ADVISORY: u32 = 15;
    pub const CONTAINMENT: u32 = 16;
    pub const REQUIRED_CHILDREN: u32 = 17;
    pub const UNIQUE_TOGETHER: u32 = 18;
}

/// Keys of an attribute map.
mod attribute_key {
    pub const NAME: u32 = 0;
    pub const VALUE_TYPE: u32 = 1;
    pub const MANY: u32 = 2;
    pub const REQUIRED: u32 = 3;
    pub const UNIQUE: u32 = 4;
    pub const UNINDEXED: u32 = 5;
    pub const DEFAULT: u32 = 6;
    pub const ENUM: u32 = 7;
    pub const ITEM_TYPE: u32 = 8;
    pub const DEPRECATION: u32 = 9;
    pub const KEY: u32 = 10;
    pub const MINIMUM: u32 = 11;
    pub const MAXIMUM: u32 = 12;
    pub const PATTERN: u32 = 13;
    pub const REFERENCE: u32 = 14;
}

/// Keys of an end map.
mod end_key {
    pub const TYPE: u32 = 0;
    pub const MANY: u32 = 1;
    pub const NAME: u32 = 2;
}

/// CBOR tags of values (IANA registry of CBOR tags).
mod tag {
    pub const UUID: u64 = 37;
    pub const DATE: u64 = 100;
    pub const SET: u64 = 258;
    pub const IRI: u64 = 266;
    /// A text with a language: `[language, text]`.
    pub const LANGUAGE: u64 = 38;
    pub const TIMESTAMP: u64 = 1001;
    pub const DURATION: u64 = 1002;
    pub const DECIMAL: u64 = 4;
    pub const BIG_POSITIVE: u64 = 2;
    pub const BIG_NEGATIVE: u64 = 3;
    /// A text with a datatype: `[datatype, text]`. Not registered: the letters `annl`.
    pub const DATATYPE: u64 = 0x616E_6E6C;
    /// A binary in the store of contents: a map. Not registered: the letters `annc`.
    pub const CONTENT: u64 = 0x616E_6E63;
}

/// Keys of the map of a binary.
mod content_key {
    pub const SHA256: u32 = 0;
    pub const SIZE: u32 = 1;
    pub const MEDIA_TYPE: u32 = 2;
    pub const NAME: u32 = 3;
    pub const DIGESTS: u32 = 4;
}

/// Keys of the map below the timestamp and duration tags (RFC 9581): whole seconds, and microseconds.
mod time_key {
    pub const SECONDS: i64 = 1;
    pub const MICROS: i64 = -6;
}

#[cfg(test)]
mod tests;
mod texts;
