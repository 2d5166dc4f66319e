//! The content of a repository: ids, values, properties, instances, types and changes.

mod anchor;
mod attribute_definition;
mod binary;
mod change;
mod content;
mod id;
mod iri;
mod provenance;
mod log_tag;
mod revision;
mod instant_text;
mod literal;
mod name;
mod number;
mod patch;
pub(crate) mod time;
mod type_definition;
mod type_patch;
mod value;
mod value_key;
mod value_ref;
mod value_set;
mod value_type;
mod stamp;

pub use crate::graph::actions::Action;
pub(crate) use crate::structures::text_key::{decode_key_text, is_text_key, key_is_cut};
pub use anchor::{Anchor, AnchoredClassification};
pub use attribute_definition::AttributeDefinition;
pub use binary::{Content, Digest, DigestAlgorithm, MEDIA_TYPE_BYTES_MAX, SHA256_BYTES, Sha256};
pub use change::{Change, Record};
pub use content::{ClassificationContent, Direction, InstanceId, NewEntity, NewRelationship, Status};
pub use id::{ID_BYTES_MAX, Id, ROOT_ID};
pub use instant_text::InstantText;
pub use iri::is_iri;
pub use literal::{DATATYPE_BYTES_MAX, LANGUAGE_BYTES_MAX, Literal, Meaning};
pub use log_tag::LogTag;
pub use name::NAME_BYTES_MAX;
pub(crate) use name::check_name;
pub(crate) use number::nearest_float;
pub use patch::{Patch, PatchStep};
pub use provenance::{
    ClassificationCopy, CopyHeader, EntityCopy, EntityProxy, PROVENANCE_ITEMS_MAX, PROVENANCE_TEXT_BYTES_MAX,
    Provenance, ProvenanceKind, RelationshipCopy,
};
pub use revision::Revision;
pub use stamp::{Stamp, StampRef};
pub use time::{Date, Duration, Instant};
pub use type_definition::{Containment, Deprecation, EndDefinition, EnumElement, TypeDefinition, TypeKind};
pub use type_patch::TypePatch;
pub use value::{NAMES_MAX, NESTING_MAX, PROPERTIES_MAX, VALUE_BYTES_MAX, Value};
pub(crate) use value_key::{
    INDEX_KEY_BYTES_MAX, append_index_key, append_language_prefix, append_numeric_prefix, append_order_key,
    append_text_prefix, decode_key, has_own_key, is_indexable,
};
pub use value_ref::ValueRef;
pub use value_set::ValueSet;
pub use value_type::ValueType;
