//! One classification of a row, read where it is.

use std::borrow::Cow;

use super::headers::HeaderNumber;
use super::properties::Properties;
use super::row::{CLASSIFICATION_HAS_HEADER, EachProperty, Packed};
use super::row_value::Bytes;
use super::unpacked::{Classification, Stamp};
use crate::graph::structures::symbols::Symbol;
use crate::model::Value;

/// A classification that an entity carries. It is taken apart only as far as it is asked.
#[derive(Clone, Copy)]
pub(crate) enum Classified<'g> {
    /// The head of the classification (its layout: `row::CLASSIFICATION_HEAD_BYTES`), and its properties.
    Packed(Packed<'g>, Bytes<'g>),
    Whole(&'g Classification),
}

impl<'g> Classified<'g> {
    #[inline]
    pub(crate) fn name(self) -> Symbol {
        match self {
            Classified::Packed(head, _) => Symbol(head.u32(0)),
            Classified::Whole(known) => known.name,
        }
    }

    pub(crate) fn version(self) -> u32 {
        match self {
            Classified::Packed(head, _) => head.u32(4) & !CLASSIFICATION_HAS_HEADER,
            Classified::Whole(known) => known.version,
        }
    }

    pub(crate) fn header(self) -> HeaderNumber {
        match self {
            Classified::Packed(head, _) => head.classification_header(),
            Classified::Whole(known) => known.header,
        }
    }

    pub(crate) fn created(self) -> Stamp {
        match self {
            Classified::Packed(head, _) => head.stamp(8),
            Classified::Whole(known) => known.created,
        }
    }

    pub(crate) fn updated(self) -> Stamp {
        match self {
            Classified::Packed(head, _) => head.stamp(20),
            Classified::Whole(known) => known.updated,
        }
    }

    pub(crate) fn property(self, name: Symbol) -> Option<Cow<'g, Value>> {
        match self {
            Classified::Packed(_, properties) => properties.find(name).map(Cow::Owned),
            Classified::Whole(known) => known.properties.get(name).map(Cow::Borrowed),
        }
    }

    /// The text of a property that is a string, without a copy; `None` also for other values.
    pub(crate) fn text(self, name: Symbol) -> Option<&'g str> {
        match self {
            Classified::Packed(_, properties) => properties.text(name),
            Classified::Whole(known) => known.properties.text(name),
        }
    }

    /// True if `admits` holds for a text of a property: a string, or a string in a set.
    pub(crate) fn any_text(self, admits: &mut dyn FnMut(&str) -> bool) -> bool {
        match self {
            Classified::Packed(_, properties) => properties.any_text(admits),
            Classified::Whole(known) => known.properties.any_text(admits),
        }
    }

    /// The properties one by one, with their names.
    pub(crate) fn each_property(self) -> EachProperty<'g> {
        match self {
            Classified::Packed(_, properties) => EachProperty::Packed(properties),
            Classified::Whole(known) => EachProperty::Whole(known.properties.iter()),
        }
    }

    /// Everything about it, with these properties.
    pub(crate) fn taken_apart(self, properties: Properties) -> Classification {
        Classification {
            name: self.name(),
            version: self.version(),
            header: self.header(),
            created: self.created(),
            updated: self.updated(),
            properties,
        }
    }
}
