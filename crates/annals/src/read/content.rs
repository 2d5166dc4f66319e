//! What past versions hold, made again from the changes in the log.

use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::instance::headers::{Header, HeaderNumber, PLAIN};
use crate::graph::instance::patch::apply_patch;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::{Classification, Instance, Stamp};
use crate::graph::kind_of;
use crate::graph::structures::symbols::Symbol;
use crate::model::{
    Action, Anchor, Change, ClassificationContent, ClassificationCopy, InstanceId, Provenance, Record, Value,
};
use crate::{Error, ErrorKind, Result};

/// What an instance holds in a version.
pub(super) struct Content {
    pub(super) properties: Properties,
    pub(super) classifications: Vec<Classification>,
}

/// True if `action`, which wrote a version of the instance, names it. Otherwise it names an entity that took the
/// relationship along. Its id may be any that the instance had: a correction names the one of its own time.
fn is_named(action: &Action, id: &InstanceId) -> bool {
    action.instance().is_some_and(|named| kind_of(&named) == kind_of(id))
}

/// The content after `change` if the change alone tells it.
pub(super) fn whole_content(
    graph: &Graph,
    id: &InstanceId,
    change: &Change,
    stamp: Stamp,
) -> Result<Option<Content>> {
    if !is_named(&change.action, id) {
        return Ok(None);
    }
    if let Some(anchor) = &change.anchor {
        let mut content = anchored(graph, anchor)?;
        content.stamp_written(graph, &change.action, stamp)?;
        return Ok(Some(content));
    }
    let content = match &change.action {
        Action::CreateEntity(new) => Content {
            properties: properties(graph, &new.properties)?,
            classifications: new
                .classifications
                .iter()
                .map(|content| classification(graph, content, 1, stamp, stamp))
                .collect::<Result<_>>()?,
        },
        Action::CreateRelationship(new) => {
            Content { properties: properties(graph, &new.properties)?, classifications: Vec::new() }
        }
        Action::SaveEntity(copy) => Content {
            properties: properties(graph, &copy.properties)?,
            classifications: copy
                .classifications
                .iter()
                .map(|known| copied(graph, known))
                .collect::<Result<_>>()?,
        },
        Action::SaveProxy(proxy) => {
            Content { properties: properties(graph, &proxy.properties)?, classifications: Vec::new() }
        }
        Action::SaveRelationship(copy) => {
            Content { properties: properties(graph, &copy.properties)?, classifications: Vec::new() }
        }
        _ => return Ok(None),
    };
    Ok(Some(content))
}

pub(super) fn stamp_known(graph: &Graph, stamp: &crate::model::Stamp) -> Result<Stamp> {
    let author = graph.authors.find(&stamp.author).ok_or_else(|| unknown_name(&stamp.author))?;
    Ok(Stamp { micros: stamp.instant.micros(), author })
}

fn copied(graph: &Graph, copy: &ClassificationCopy) -> Result<Classification> {
    let mut provenance = copy.provenance.clone();
    if provenance.home == graph.collection {
        provenance.home = None;
    }
    let provenance = (provenance != Provenance::default()).then(|| Arc::new(provenance));
    Ok(Classification {
        name: symbol(graph, &copy.name)?,
        version: copy.version,
        header: header_of(graph, provenance)?,
        created: stamp_known(graph, &copy.created)?,
        updated: stamp_known(graph, &copy.updated)?,
        properties: properties(graph, &copy.properties)?,
    })
}

/// The header of a classification of this provenance.
fn header_of(graph: &Graph, provenance: Option<Arc<Provenance>>) -> Result<HeaderNumber> {
    let header = Header { provenance, ..Header::default() };
    graph.headers.find(&header).ok_or_else(|| unknown_name("of a classification's provenance"))
}

/// The header that a classification which was given here got.
fn own_header(graph: &Graph, content: &ClassificationContent) -> Result<HeaderNumber> {
    match &content.provenance {
        None => Ok(PLAIN),
        Some(given) => header_of(graph, graph.own_provenance(given)?),
    }
}

fn anchored(graph: &Graph, anchor: &Anchor) -> Result<Content> {
    let stamp = |stamp: &crate::model::Stamp| stamp_known(graph, stamp);
    let classifications = anchor
        .classifications
        .iter()
        .map(|known| {
            // Earlier versions of Annals wrote what was given, not what was kept of it.
            let header = header_of(graph, known.content.provenance.clone())
                .or_else(|_| own_header(graph, &known.content))?;
            let (created, updated) = (stamp(&known.created)?, stamp(&known.updated)?);
            let known = classification_with(graph, &known.content, header, known.version)?;
            Ok(Classification { created, updated, ..known })
        })
        .collect::<Result<_>>()?;
    Ok(Content { properties: properties(graph, &anchor.properties)?, classifications })
}

impl Content {
    /// What an instance holds that was taken apart.
    pub(super) fn of(instance: &Instance) -> Content {
        Content {
            properties: instance.properties.clone(),
            classifications: instance.classifications().to_vec(),
        }
    }

    /// The anchor was made before the commit instant was known, so what its own change wrote has another stamp.
    fn stamp_written(&mut self, graph: &Graph, action: &Action, stamp: Stamp) -> Result<()> {
        let written = match action {
            Action::Classify(_, content) => vec![symbol(graph, &content.name)?],
            Action::Reclassify(_, name, _) => vec![symbol(graph, name)?],
            Action::Replace(_, _, Some(contents)) => {
                contents.iter().map(|content| symbol(graph, &content.name)).collect::<Result<_>>()?
            }
            _ => Vec::new(),
        };
        for known in self.classifications.iter_mut().filter(|known| written.contains(&known.name)) {
            known.updated = stamp;
            if known.version == 1 {
                known.created = stamp;
            }
        }
        Ok(())
    }

    pub(super) fn apply(
        &mut self,
        graph: &Graph,
        id: &InstanceId,
        change: &Change,
        stamp: Stamp,
    ) -> Result<()> {
        if !is_named(&change.action, id) {
            // An entity was deleted or restored with its relationships, and this is one of them.
            return Ok(());
        }
        match &change.action {
            Action::Update(_, patch) => {
                apply_patch(&mut self.properties, patch, |name| symbol(graph, name)).map(drop)
            }
            Action::Replace(_, entries, classifications) => {
                self.properties = properties(graph, entries)?;
                if let Some(contents) = classifications {
                    let before = std::mem::take(&mut self.classifications);
                    for content in contents {
                        let name = symbol(graph, &content.name)?;
                        let known = before.iter().find(|known| known.name == name);
                        // What another collection attached, a replacement leaves alone.
                        if let Some(known) = known.filter(|known| !graph.is_own(known.header)) {
                            self.classifications.push(known.clone());
                            continue;
                        }
                        self.classifications.push(succeed(graph, known, content, stamp)?);
                    }
                }
                Ok(())
            }
            Action::Classify(_, content) => {
                let known = self.take_classification(graph, &content.name)?;
                self.classifications.push(succeed(graph, known.as_ref(), content, stamp)?);
                Ok(())
            }
            Action::Reclassify(_, name, patch) => {
                let Some(mut known) = self.take_classification(graph, name)? else { return Ok(()) };
                apply_patch(&mut known.properties, patch, |name| symbol(graph, name))?;
                known.version += 1;
                known.updated = stamp;
                self.classifications.push(known);
                Ok(())
            }
            Action::Declassify(_, name) | Action::PurgeClassificationCopy(_, name, _) => {
                self.take_classification(graph, name).map(drop)
            }
            Action::SaveClassification(_, copy) => {
                self.take_classification(graph, &copy.name)?;
                self.classifications.push(copied(graph, copy)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take_classification(&mut self, graph: &Graph, name: &str) -> Result<Option<Classification>> {
        let name = symbol(graph, name)?;
        let found = self.classifications.iter().position(|known| known.name == name);
        Ok(found.map(|at| self.classifications.remove(at)))
    }
}

fn succeed(
    graph: &Graph,
    known: Option<&Classification>,
    content: &ClassificationContent,
    stamp: Stamp,
) -> Result<Classification> {
    let version = known.map_or(1, |known| known.version + 1);
    classification(graph, content, version, known.map_or(stamp, |known| known.created), stamp)
}

fn classification(
    graph: &Graph,
    content: &ClassificationContent,
    version: u32,
    created: Stamp,
    updated: Stamp,
) -> Result<Classification> {
    let known = classification_with(graph, content, own_header(graph, content)?, version)?;
    Ok(Classification { created, updated, ..known })
}

/// A classification whose stamps are still to be told.
fn classification_with(
    graph: &Graph,
    content: &ClassificationContent,
    header: HeaderNumber,
    version: u32,
) -> Result<Classification> {
    let untold = Stamp { micros: 0, author: Symbol(0) };
    Ok(Classification {
        name: symbol(graph, &content.name)?,
        header,
        version,
        created: untold,
        updated: untold,
        properties: properties(graph, &content.properties)?,
    })
}

fn properties(graph: &Graph, entries: &[(Arc<str>, Value)]) -> Result<Properties> {
    let entries = entries.iter().map(|(name, value)| Ok((symbol(graph, name)?, value.clone())));
    Ok(Properties::from_entries(entries.collect::<Result<_>>()?))
}

pub(super) fn stamp_of(graph: &Graph, record: &Record) -> Result<Stamp> {
    let author = graph.authors.find(&record.author).ok_or_else(|| unknown_name(&record.author))?;
    Ok(Stamp { micros: record.instant.micros(), author })
}

fn symbol(graph: &Graph, name: &str) -> Result<Symbol> {
    graph.names.find(name).ok_or_else(|| unknown_name(name))
}

fn unknown_name(name: &str) -> Error {
    Error::new(
        ErrorKind::Corrupted,
        format!("history: the name {name:?} was not there when the log was replayed; run `annals check`"),
    )
}
