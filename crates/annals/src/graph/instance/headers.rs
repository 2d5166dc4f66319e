//! Headers: fields that most instances do not have, such as a status, a foreign home, a license, a changed type.
//!
//! Each different header is stored once and has a number. An instance without a header takes no extra byte.

use std::sync::Arc;

use crate::graph::structures::hash::key_of;
use crate::graph::structures::id_map::IdMap;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, Provenance};
use crate::structures::number::narrow;
use crate::structures::vector::Vector;

/// The number of a header within one graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct HeaderNumber(pub(crate) u32);

/// The empty header.
pub(crate) const PLAIN: HeaderNumber = HeaderNumber(0);

/// The fields of a version beyond the usual ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RowHeader {
    /// `None`: active.
    pub(crate) status: Option<Arc<str>>,
    pub(crate) provenance: Option<Arc<Provenance>>,
    /// The difference between the version number at its home and the one here.
    pub(crate) version_offset: i64,
    /// How many versions up to this one changed only classifications.
    pub(crate) content_offset: u32,
    /// True if only the fields given by relationships are known.
    pub(crate) is_proxy: bool,
    /// The id it had before.
    pub(crate) reidentified_from: Option<Id>,
    /// Present from the first change of its type, ends or id on.
    pub(crate) identity: Option<Arc<Identity>>,
    /// Instant and author of the creation, as known in this version; only if later versions know others.
    pub(crate) created: Option<(i64, Symbol)>,
}

/// The shape of a version, and the shape of the first versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) own: Shape,
    /// The shape of versions whose header has no identity.
    pub(crate) original: Shape,
}

/// Id, type and ends of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) id: Id,
    pub(crate) type_name: Symbol,
    pub(crate) ends: [u32; 2],
}

impl RowHeader {
    /// The name of its collection, if it is not this repository's own.
    pub(crate) fn home(&self) -> Option<&Arc<str>> {
        self.provenance.as_ref()?.home.as_ref()
    }

    /// The number of a version without those up to it that changed only classifications.
    pub(crate) fn content_version(&self, version: u32) -> u32 {
        version.saturating_sub(self.content_offset).max(1)
    }
}

/// All headers of a graph by number, and numbers by header.
#[derive(Clone)]
pub(crate) struct Headers {
    list: Vector<Arc<RowHeader>>,
    numbers: IdMap,
    has_proxy: bool,
    has_identity: bool,
    has_creation: bool,
}

impl Headers {
    pub(crate) fn new() -> Headers {
        let mut headers = Headers {
            list: Vector::new(),
            numbers: IdMap::new(),
            has_proxy: false,
            has_identity: false,
            has_creation: false,
        };
        headers.list.push(Arc::new(RowHeader::default()));
        headers
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, number: HeaderNumber) -> &Arc<RowHeader> {
        &self.list[number.0 as usize]
    }

    /// False if there never was a proxy.
    pub(crate) fn has_proxy(&self) -> bool {
        self.has_proxy
    }

    /// False if all versions have the creation of the one in force.
    pub(crate) fn has_creation(&self) -> bool {
        self.has_creation
    }

    /// False if no id, type or end was ever changed.
    pub(crate) fn has_identity(&self) -> bool {
        self.has_identity
    }

    /// The number of `header`.
    pub(crate) fn find(&self, header: &RowHeader) -> Option<HeaderNumber> {
        if *header == RowHeader::default() {
            return Some(PLAIN);
        }
        let is_it = |number: u32| self.list.get(number as usize).is_some_and(|known| **known == *header);
        self.numbers.get(key_of(header), is_it).map(HeaderNumber)
    }

    /// The number of `header`, a new one if it has none.
    pub(crate) fn intern(&mut self, header: RowHeader) -> HeaderNumber {
        if let Some(number) = self.find(&header) {
            return number;
        }
        let key = key_of(&header);
        self.has_proxy |= header.is_proxy;
        self.has_identity |= header.identity.is_some();
        self.has_creation |= header.created.is_some();
        let number = narrow(self.list.len());
        self.list.push(Arc::new(header));
        self.numbers.insert(key, number);
        HeaderNumber(number)
    }

    /// All headers but the plain one, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<RowHeader>> {
        self.list.iter().skip(1)
    }
}
