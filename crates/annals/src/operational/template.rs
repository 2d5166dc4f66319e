//! The types of the running tree as a repository in memory, of which each lease begins as a copy: the copy shares the
//! graph of the types, so a lease costs little until a client pushes state.

use std::sync::Arc;

use crate::graph::indexed::Indexed;
use crate::log::{Appended, Call, Log, MemoryLog, ReadLimit};
use crate::memory::Memory;
use crate::model::{AttributeDefinition, TypeDefinition};
use crate::options::Options;
use crate::read::Snapshot;
use crate::repository::Repository;
use crate::{Position, Result};

/// The types that the running repository has declared.
pub(super) struct Template {
    repository: Repository,
    log: MemoryLog,
    /// How many declarations of types it has copied.
    types_known: usize,
    /// The budget of the running repository, which all pushed state shares.
    memory: Arc<Memory>,
}

/// A repository that began as a copy of the template.
pub(super) struct Fork {
    pub(super) repository: Repository,
    /// How many declarations of types it has.
    pub(super) types_known: usize,
}

impl Template {
    pub(super) fn new(running: &Repository) -> Result<Template> {
        let log = MemoryLog::new();
        let repository = Repository::with_log(Arc::new(log.clone()), Options::default())?;
        let memory = Arc::clone(running.inner().committer.source().memory());
        Ok(Template { repository, log, types_known: 0, memory })
    }

    /// A copy with the types of a snapshot of the running repository.
    pub(super) fn fork(&mut self, running: &Snapshot) -> Result<Fork> {
        self.types_known = learn(&self.repository, self.types_known, running)?;
        let indexed: Indexed = self.repository.inner().committer.publisher().load().settled()?;
        let base_count = indexed.graph.position.0;
        let log = ForkedLog { base: self.log.clone(), base_count, own: MemoryLog::new() };
        let repository = Repository::forked(Arc::new(log), indexed, Arc::clone(&self.memory))?;
        Ok(Fork { repository, types_known: self.types_known })
    }
}

/// Copies the types that the running repository has declared beyond the first `known` ones, without required properties
/// and children. Shape: how many are known now.
pub(super) fn learn(repository: &Repository, known: usize, running: &Snapshot) -> Result<usize> {
    let declared = &running.graph().type_changes;
    if declared.len() > known {
        let news: Vec<_> = declared.iter().skip(known).collect();
        repository.transact(|t| {
            news.iter().try_for_each(|(_, definition)| t.define_type(without_duties(definition)))
        })?;
    }
    Ok(declared.len().max(known))
}

/// The type for pushed state, which comes in parts: only the keys of lists are required, and there are no defaults.
fn without_duties(definition: &TypeDefinition) -> TypeDefinition {
    let attribute = |attribute: &AttributeDefinition| AttributeDefinition {
        is_required: attribute.is_key,
        is_unique: false,
        default: None,
        reference: None,
        ..attribute.clone()
    };
    TypeDefinition {
        attributes: definition.attributes.iter().map(attribute).collect(),
        required_children: Vec::new(),
        unique_together: Vec::new(),
        ..definition.clone()
    }
}

/// The records of the template up to a position, which all copies share, and those of one copy after them.
struct ForkedLog {
    base: MemoryLog,
    base_count: u64,
    own: MemoryLog,
}

impl ForkedLog {
    /// The position in `own`; `None` if the record is in `base`.
    fn own(&self, at: Position) -> Option<Position> {
        at.0.checked_sub(self.base_count).filter(|own| *own > 0).map(Position)
    }
}

impl Log for ForkedLog {
    fn tail(&self) -> Result<Position> {
        Ok(Position(self.base_count + self.own.tail()?.0))
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        // A position of the template is taken: the own log refuses position zero.
        self.own.append_call(&Call { at: self.own(call.at).unwrap_or_default(), ..*call })
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        let Some(own) = self.own(from) else {
            let count = usize::try_from((self.base_count + 1).saturating_sub(from.0)).unwrap_or(usize::MAX);
            return self.base.read(from, ReadLimit { records: limit.records.min(count), ..limit });
        };
        self.own.read(own, limit)
    }

    fn describe(&self) -> String {
        self.own.describe()
    }
}
