//! Where an instance comes from, whose it is, and for what time its owner says it counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Id, Instant, NAME_BYTES_MAX, Stamp, Value, check_name};
use crate::{Error, ErrorKind, Result};

/// Most maintainers, and most mappings, of one instance.
pub const PROVENANCE_ITEMS_MAX: usize = 1_024;
/// Longest license and mapping. Units: bytes of one text.
pub const PROVENANCE_TEXT_BYTES_MAX: usize = 65_536;

/// How an instance came to be where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProvenanceKind {
    /// Nobody said.
    Unknown,
    /// It is maintained by its home, one of the repositories that work together.
    #[default]
    Local,
    /// It was loaded from an export archive.
    ExportArchive,
    /// It was loaded from a content pack.
    ContentPack,
    /// Its home does not take part any more.
    Deregistered,
    /// It belongs to the configuration.
    Configuration,
    /// It is maintained by a system outside; the repository that replicates it may write it.
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

/// Where an instance, or a classification, comes from. What is left out takes no room.
///
/// ```
/// let provenance = annals::Provenance { license: Some("CC0-1.0".into()), ..annals::Provenance::default() };
/// let entity = annals::NewEntity::new("table").from_provenance(provenance);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Provenance {
    /// Name of the collection that it belongs to. `None`: this repository's own.
    pub home: Option<Arc<str>>,
    /// How it came to be here.
    pub kind: ProvenanceKind,
    /// Name of the collection that replicates it, for what comes from an external source.
    pub replicated_by: Option<Arc<str>>,
    /// Under which license it may be used.
    pub license: Option<Arc<str>>,
    /// Who maintains it.
    pub maintained_by: Vec<Arc<str>>,
    /// What other systems say of it, such as their keys.
    pub mappings: BTreeMap<Arc<str>, Arc<str>>,
    /// From when it counts, as its owner says: independent of when it was written or true.
    pub effective_from: Option<Instant>,
    /// Until when it counts.
    pub effective_to: Option<Instant>,
}

impl Provenance {
    /// That of what belongs to another collection.
    pub fn of_home(home: &str) -> Provenance {
        Provenance { home: Some(home.into()), ..Provenance::default() }
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

/// What an instance has at its home and keeps in a copy of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyHeader {
    /// Where it comes from; its home must be given.
    pub provenance: Provenance,
    /// The number of its version at its home, from 1.
    pub version: u32,
    /// Its status there.
    pub status: Option<Arc<str>>,
    /// When and by whom it was created there.
    pub created: Stamp,
    /// When and by whom it was changed last there.
    pub updated: Stamp,
}

/// An entity of another collection, to be kept here as it is there.
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
    /// What else it has there.
    pub header: CopyHeader,
}

/// A relationship of another collection, to be kept here as it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationshipCopy {
    /// Its id.
    pub id: Id,
    /// Name of its type.
    pub type_name: Arc<str>,
    /// The entity it starts at.
    pub from: Id,
    /// The entity it ends at.
    pub to: Id,
    /// Its properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// What else it has there.
    pub header: CopyHeader,
}

/// What is known of an entity that is not here itself, so that relationships can lead to it.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityProxy {
    /// Id of the entity.
    pub id: Id,
    /// Name of its type.
    pub type_name: Arc<str>,
    /// Its unique properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Name of the collection that it belongs to.
    pub home: Arc<str>,
}

/// A classification of another collection, to be kept here as it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassificationCopy {
    /// Name of the classification.
    pub name: Arc<str>,
    /// Its properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Where it comes from.
    pub provenance: Provenance,
    /// The number of its version at its home, from 1.
    pub version: u32,
    /// When and by whom it was attached there.
    pub created: Stamp,
    /// When and by whom it was changed last there.
    pub updated: Stamp,
}
