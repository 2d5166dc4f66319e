//! The provenance of an instance: its source, its home, and the time for which its owner declares it effective.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Id, Instant, NAME_BYTES_MAX, Stamp, Value, check_name};
use crate::{Error, ErrorKind, Result};

/// Most maintainers, and most mappings, of one instance.
pub const PROVENANCE_ITEMS_MAX: usize = 1_024;
/// Longest license and mapping. Units: bytes of one text.
pub const PROVENANCE_TEXT_BYTES_MAX: usize = 65_536;

/// The kind of source of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProvenanceKind {
    /// Not known.
    Unknown,
    /// It is maintained by its home, one of the repositories that work together.
    #[default]
    Local,
    /// It was loaded from an export archive.
    ExportArchive,
    /// It was loaded from a content pack.
    ContentPack,
    /// Its home no longer takes part.
    Deregistered,
    /// It belongs to the configuration.
    Configuration,
    /// An outside system maintains it; the repository that replicates it may write it.
    ExternalSource,
}

impl ProvenanceKind {
    /// All kinds, in the order of their codes in records.
    pub const ALL: [ProvenanceKind; 7] = [
        ProvenanceKind::Unknown,
        ProvenanceKind::Local,
        ProvenanceKind::ExportArchive,
        ProvenanceKind::ContentPack,
        ProvenanceKind::Deregistered,
        ProvenanceKind::Configuration,
        ProvenanceKind::ExternalSource,
    ];

    /// The lower-case name used by every door.
    pub fn name(self) -> &'static str {
        match self {
            ProvenanceKind::Unknown => "unknown",
            ProvenanceKind::Local => "local",
            ProvenanceKind::ExportArchive => "export-archive",
            ProvenanceKind::ContentPack => "content-pack",
            ProvenanceKind::Deregistered => "deregistered",
            ProvenanceKind::Configuration => "configuration",
            ProvenanceKind::ExternalSource => "external-source",
        }
    }
}

/// The provenance of an instance, or of a classification. Missing fields take no room.
///
/// ```
/// let provenance = annals::Provenance { license: Some("CC0-1.0".into()), ..annals::Provenance::default() };
/// let entity = annals::NewEntity::new("table").from_provenance(provenance);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Provenance {
    /// Name of the collection that it belongs to. `None`: this repository's own.
    pub home: Option<Arc<str>>,
    /// The kind of its source.
    pub kind: ProvenanceKind,
    /// Name of the collection that replicates it, if it comes from an external source.
    pub replicated_by: Option<Arc<str>>,
    /// The license under which it may be used.
    pub license: Option<Arc<str>>,
    /// Its maintainers.
    pub maintained_by: Vec<Arc<str>>,
    /// Names that other systems give it, such as their keys.
    pub mappings: BTreeMap<Arc<str>, Arc<str>>,
    /// The start of the time for which its owner declares it effective; independent of when it was written, and of its
    /// valid time.
    pub effective_from: Option<Instant>,
    /// The end of that time.
    pub effective_to: Option<Instant>,
    /// A classification: the entity from which it was propagated to this one. `None`: somebody assigned it.
    pub propagated_from: Option<Id>,
}

impl Provenance {
    /// The provenance of an instance of another collection.
    pub fn of_home(home: &str) -> Provenance {
        Provenance { home: Some(home.into()), ..Provenance::default() }
    }

    /// The same, for an instance, which cannot be propagated.
    pub(crate) fn check_of_instance(&self) -> Result<()> {
        if let Some(id) = &self.propagated_from {
            let text = format!("propagated from {id}: only classifications are propagated; leave it out");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        self.check()
    }

    pub(crate) fn check(&self) -> Result<()> {
        for (what, text) in [("home", &self.home), ("replicated by", &self.replicated_by)] {
            text.as_ref().map_or(Ok(()), |text| check_name(what, text))?;
        }
        let (maintainers, mappings) = (self.maintained_by.len(), self.mappings.len());
        if maintainers > PROVENANCE_ITEMS_MAX || mappings > PROVENANCE_ITEMS_MAX {
            let text = format!(
                "provenance: expected at most {PROVENANCE_ITEMS_MAX} maintainers and mappings, found {maintainers} and {mappings}"
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        let texts = self.license.iter().chain(&self.maintained_by).chain(self.mappings.values());
        if let Some(text) = texts.into_iter().find(|text| text.len() > PROVENANCE_TEXT_BYTES_MAX) {
            let text = format!(
                "provenance: expected texts of at most {PROVENANCE_TEXT_BYTES_MAX} bytes, found one of {}",
                text.len()
            );
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        if let Some(key) = self.mappings.keys().find(|key| key.is_empty() || key.len() > NAME_BYTES_MAX) {
            let text = format!("mapping {key:?}: expected a key of 1 to {NAME_BYTES_MAX} bytes");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        match (self.effective_from, self.effective_to) {
            (Some(from), Some(to)) if from > to => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("effective from {from} to {to}: expected the start before the end"),
            )),
            _ => Ok(()),
        }
    }
}

/// The header that an instance has at its home, kept in a copy of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyHeader {
    /// Its provenance; the home is required.
    pub provenance: Provenance,
    /// Its version number at its home, from 1.
    pub version: u32,
    /// Its status at its home.
    pub status: Option<Arc<str>>,
    /// Instant and author of its creation there.
    pub created: Stamp,
    /// Instant and author of its latest change there.
    pub updated: Stamp,
}

/// An entity of another collection, to be stored here with its state there.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityCopy {
    /// Its id.
    pub id: Id,
    /// Name of its type.
    pub type_name: Arc<str>,
    /// Its properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Its classifications.
    pub classifications: Vec<ClassificationCopy>,
    /// Its header there.
    pub header: CopyHeader,
}

/// A relationship of another collection, to be stored here with its state there.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationshipCopy {
    /// Its id.
    pub id: Id,
    /// Name of its type.
    pub type_name: Arc<str>,
    /// The entity where it starts.
    pub from: Id,
    /// The entity where it ends.
    pub to: Id,
    /// Its properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Its header there.
    pub header: CopyHeader,
}

/// The known fields of an entity that is not stored here, so that relationships can lead to it.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityProxy {
    /// Id of the entity.
    pub id: Id,
    /// Name of its type.
    pub type_name: Arc<str>,
    /// Its unique properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Its classifications.
    pub classifications: Vec<ClassificationCopy>,
    /// Its provenance; the home is required.
    pub provenance: Provenance,
    /// Its status at its home.
    pub status: Option<Arc<str>>,
    /// Its version number at its home, from 1, and instants and authors of its creation and its latest change there, if
    /// they are known.
    pub origin: Option<(u32, Stamp, Stamp)>,
}

impl EntityProxy {
    /// A proxy of an entity of the collection `home`, without more fields.
    pub fn new(id: Id, type_name: &str, home: &str) -> EntityProxy {
        EntityProxy {
            id,
            type_name: type_name.into(),
            properties: Vec::new(),
            classifications: Vec::new(),
            provenance: Provenance::of_home(home),
            status: None,
            origin: None,
        }
    }
}

/// A classification of another collection, to be stored here with its state there.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassificationCopy {
    /// Name of the classification.
    pub name: Arc<str>,
    /// Its properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Its provenance.
    pub provenance: Provenance,
    /// Its version number at its home, from 1.
    pub version: u32,
    /// Instant and author of its first version there.
    pub created: Stamp,
    /// Instant and author of its latest version there.
    pub updated: Stamp,
}
