//! The content of past versions, rebuilt from the changes in the log.

use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::actions::draft::Draft;
use crate::graph::instance::headers::{HeaderNumber, PLAIN, RowHeader};
use crate::graph::instance::patch::apply_patch;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::unpacked::{Classification, Instance, RowStamp};
use crate::graph::kind_of;
use crate::graph::structures::symbols::Symbol;
use crate::model::{
    Action, Anchor, Change, ClassificationContent, ClassificationCopy, InstanceId, Patch, Provenance, Record,
    Value,
};
use crate::{Error, ErrorKind, Result};

/// The content of an instance in a version.
pub(super) struct Content {
    pub(super) properties: Properties,
    pub(super) classifications: Vec<Classification>,
}

/// True if `action`, which wrote a version of the instance, names it; otherwise the action names an entity, and the
/// relationship changed with it. The action may use any former id: a correction uses the id of its time.
fn is_named(action: &Action, id: &InstanceId) -> bool {
    action.instance().is_some_and(|named| kind_of(&named) == kind_of(id))
}

/// The content after `change`, if the change alone contains it.
pub(super) fn whole_content(
    graph: &Graph,
    id: &InstanceId,
    change: &Change,
    stamp: RowStamp,
) -> Result<Option<Content>> {
    if !is_named(&change.action, id) {
        return Ok(None);
    }
    if let Some(anchor) = &change.anchor {
        let mut content = anchored(graph, anchor)?;
        content.stamp_written(graph, &change.action, stamp)?;
        return Ok(Some(content));
    }
    if !change.action.is_whole() {
        return Ok(None);
    }
    let bag = change.action.bag();
    let given = bag.classifications.unwrap_or_default().iter();
    let given = given.map(|content| classification(graph, content, 1, stamp, stamp));
    let kept = bag.copied.unwrap_or_default().iter().map(|known| copied(graph, known));
    Ok(Some(Content {
        properties: properties(graph, bag.properties.unwrap_or_default())?,
        classifications: given.chain(kept).collect::<Result<_>>()?,
    }))
}

pub(super) fn stamp_known(graph: &Graph, stamp: &crate::model::Stamp) -> Result<RowStamp> {
    let author = graph.authors.find(&stamp.author).ok_or_else(|| unknown_name(&stamp.author))?;
    Ok(RowStamp { micros: stamp.instant.micros(), author })
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
    let header = RowHeader { provenance, ..RowHeader::default() };
    graph.headers.find(&header).ok_or_else(|| unknown_name("of a classification's provenance"))
}

/// The header of a classification that was added here.
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
            // Earlier versions of Annals wrote the given provenance, not the stored part of it.
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
    /// The content of a decoded instance.
    pub(super) fn of(instance: &Instance) -> Content {
        Content {
            properties: instance.properties.clone(),
            classifications: instance.classifications().to_vec(),
        }
    }

    /// The anchor was made before the commit instant was known, so the properties that its own change wrote get its
    /// stamp here.
    fn stamp_written(&mut self, graph: &Graph, action: &Action, stamp: RowStamp) -> Result<()> {
        let given = action.given_classifications().iter().map(|content| &*content.name);
        let written = given.chain(action.classification()).map(|name| symbol(graph, name));
        let written: Vec<Symbol> = written.collect::<Result<_>>()?;
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
        stamp: RowStamp,
    ) -> Result<()> {
        if !is_named(&change.action, id) {
            // This relationship was deleted or restored with an entity.
            return Ok(());
        }
        change.action.content(&mut Made { graph, stamp, content: self })
    }
}

/// Content being rebuilt, with the stamp of its change.
struct Made<'c> {
    graph: &'c Graph,
    stamp: RowStamp,
    content: &'c mut Content,
}

impl Draft for Made<'_> {
    fn patch(&mut self, patch: &Patch) -> Result<()> {
        apply_patch(&mut self.content.properties, patch, |name| symbol(self.graph, name)).map(drop)
    }

    fn replace(
        &mut self,
        entries: &[(Arc<str>, Value)],
        classifications: Option<&[ClassificationContent]>,
    ) -> Result<()> {
        let graph = self.graph;
        self.content.properties = properties(graph, entries)?;
        let Some(contents) = classifications else { return Ok(()) };
        let before = std::mem::take(&mut self.content.classifications);
        for content in contents {
            let name = symbol(graph, &content.name)?;
            let known = before.iter().find(|known| known.name == name);
            // A replacement keeps classifications that another collection attached.
            if let Some(known) = known.filter(|known| !graph.is_own(known.header)) {
                self.content.classifications.push(known.clone());
                continue;
            }
            self.content.classifications.push(succeed(graph, known, content, self.stamp)?);
        }
        Ok(())
    }

    fn classify(&mut self, content: &ClassificationContent) -> Result<()> {
        let known = self.take_classification(&content.name)?;
        self.content.classifications.push(succeed(self.graph, known.as_ref(), content, self.stamp)?);
        Ok(())
    }

    fn reclassify(
        &mut self,
        name: &Arc<str>,
        patch: &Patch,
        provenance: Option<&Arc<Provenance>>,
    ) -> Result<()> {
        let Some(mut known) = self.take_classification(name)? else { return Ok(()) };
        apply_patch(&mut known.properties, patch, |name| symbol(self.graph, name))?;
        if let Some(given) = provenance {
            known.header = header_of(self.graph, self.graph.own_provenance(given)?)?;
        }
        known.version += 1;
        known.updated = self.stamp;
        self.content.classifications.push(known);
        Ok(())
    }

    fn declassify(&mut self, name: &Arc<str>) -> Result<()> {
        self.take_classification(name).map(drop)
    }

    fn save(&mut self, copy: &ClassificationCopy) -> Result<()> {
        self.take_classification(&copy.name)?;
        self.content.classifications.push(copied(self.graph, copy)?);
        Ok(())
    }
}

impl Made<'_> {
    fn take_classification(&mut self, name: &str) -> Result<Option<Classification>> {
        let name = symbol(self.graph, name)?;
        let found = self.content.classifications.iter().position(|known| known.name == name);
        Ok(found.map(|at| self.content.classifications.remove(at)))
    }
}

fn succeed(
    graph: &Graph,
    known: Option<&Classification>,
    content: &ClassificationContent,
    stamp: RowStamp,
) -> Result<Classification> {
    let version = known.map_or(1, |known| known.version + 1);
    classification(graph, content, version, known.map_or(stamp, |known| known.created), stamp)
}

fn classification(
    graph: &Graph,
    content: &ClassificationContent,
    version: u32,
    created: RowStamp,
    updated: RowStamp,
) -> Result<Classification> {
    let known = classification_with(graph, content, own_header(graph, content)?, version)?;
    Ok(Classification { created, updated, ..known })
}

/// A classification whose stamps are not known yet.
fn classification_with(
    graph: &Graph,
    content: &ClassificationContent,
    header: HeaderNumber,
    version: u32,
) -> Result<Classification> {
    let untold = RowStamp { micros: 0, author: Symbol(0) };
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

pub(super) fn stamp_of(graph: &Graph, record: &Record) -> Result<RowStamp> {
    let author = graph.authors.find(&record.author).ok_or_else(|| unknown_name(&record.author))?;
    Ok(RowStamp { micros: record.instant.micros(), author })
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
