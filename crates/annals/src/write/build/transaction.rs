//! A transaction: changes on one snapshot, visible to its own reads, committed all or none.

use crate::graph::actions as action;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::noted::Noted;
use super::own_graph::OwnGraph;
use super::properties::check_counts;
use super::touched::Touched;
use crate::graph::kind_of;
use crate::model::{
    Action, Change, ClassificationContent, Id, InstanceId, Instant, NewEntity, NewRelationship, Patch,
    Record, Sha256, TypeKind, Value, check_name,
};
use crate::read::{Pending, Rights, Snapshot};
use crate::record::{CHANGES_MAX, RECORD_BYTES_MAX};
use crate::write::commit::clock::commit_instant;
use crate::write::commit::expectations::Expectations;
use crate::write::commit::queue::Committer;
use crate::write::commit::reads::Reads;
use crate::write::commit::request::OwnStamps;
use crate::{Error, ErrorKind, Position, Result};

/// Largest transaction. Units: bytes of its record.
pub const TRANSACTION_BYTES_MAX: usize = RECORD_BYTES_MAX;
/// How often [`Repository::transact`](crate::Repository::transact) retries a transaction after a conflict.
pub const RETRIES_MAX: usize = 100;

/// Changes on one snapshot. They become visible to other threads, and durable, with [`Transaction::commit`].
///
/// Changes of the properties of one instance make one version together, and so do a creation and the classifications
/// given after it; every other change makes a version of its own, and so does each change with
/// [`Transaction::always`] or [`Transaction::valid_from`]. A change that would not change the instance, or the type, makes none: the transaction
/// leaves it out, unless [`Transaction::always`] or [`Transaction::valid_from`] is set. It then counts as a read of the
/// instance, but not in [`Transaction::changes_count`]. Dropping the transaction discards it.
pub struct Transaction {
    pub(in crate::write) committer: Arc<Committer>,
    pub(in crate::write) base: Snapshot,
    // Of a writer with grants.
    pub(in crate::write) rights: Option<Arc<Rights>>,
    // True once a change restores an instance.
    pub(in crate::write) has_restored: bool,
    // Contents that a limited writer may name, beside those that it sees.
    pub(in crate::write) allowed_contents: BTreeSet<Sha256>,
    // Author, message and changes so far. The view shares it; `record_mut` drops the view first.
    pub(in crate::write) record: Arc<Record>,
    pub(super) valid_from: Option<Instant>,
    pub(in crate::write) is_always: bool,
    pub(super) is_as_declared: bool,
    /// True while changes return values from the log: these are not new.
    pub(in crate::write) is_returning: bool,
    pub(super) instant: Option<Instant>,
    pub(super) is_of_history: bool,
    pub(super) is_serializable: bool,
    pub(in crate::write) reads: Reads,
    // The reads that decided whether the transaction is allowed.
    pub(super) relied: Reads,
    pub(in crate::write) expectations: Expectations,
    // For the edits of a candidate: the number of changes with an older base, and that base.
    pub(in crate::write) edits: Option<(Position, usize)>,
    // The records that it takes back.
    pub(in crate::write) taken_back: Vec<RangeInclusive<Position>>,
    // Classifications that get their stamps at commit.
    pub(super) stamped: Vec<OwnStamps>,
    pub(super) touched: Touched,
    pub(in crate::write) noted: Noted,
    // The number of changes left out because they would change nothing.
    pub(super) left_out_count: usize,
    // True once a change declares a type: defaults then come from the transaction's own view.
    pub(in crate::write) defines_types: bool,
    // The view after the last declaration, for the defaults of later changes.
    pub(in crate::write) typed: Option<Snapshot>,
    // The base with the first changes; made when it is first needed.
    pub(in crate::write) own: Option<Box<OwnGraph>>,
    // True if a change cannot be applied to the base: the commit reports the error, and no further change is left out.
    pub(super) is_broken: bool,
    // The base with all changes, for reads.
    pub(in crate::write) view: Option<Snapshot>,
}

impl Transaction {
    pub(crate) fn new(committer: Arc<Committer>, base: Snapshot) -> Transaction {
        Transaction {
            committer,
            base,
            rights: None,
            has_restored: false,
            allowed_contents: BTreeSet::new(),
            record: Arc::default(),
            valid_from: None,
            is_always: false,
            is_as_declared: false,
            is_returning: false,
            instant: None,
            is_of_history: false,
            is_serializable: false,
            reads: Reads::default(),
            relied: Reads::default(),
            expectations: Expectations::default(),
            edits: None,
            taken_back: Vec::new(),
            stamped: Vec::new(),
            touched: Touched::default(),
            noted: Noted::default(),
            left_out_count: 0,
            defines_types: false,
            typed: None,
            own: None,
            is_broken: false,
            view: None,
        }
    }

    /// Sets the author.
    pub fn author(&mut self, author: &str) -> &mut Transaction {
        if *self.record.author != *author {
            self.record_mut().author = author.into();
        }
        self
    }

    /// Sets the reason.
    pub fn message(&mut self, message: &str) -> &mut Transaction {
        if *self.record.message != *message {
            self.record_mut().message = message.into();
        }
        self
    }

    /// Sets the valid time of the following changes; `None` for the commit instant.
    ///
    /// Only changes of content can correct the past; deletions and restorations must not be earlier than the version
    /// they end.
    pub fn valid_from(&mut self, instant: Option<Instant>) -> &mut Transaction {
        self.valid_from = instant;
        self
    }

    /// Keeps following changes even if they change nothing: each makes a version, for callers that count versions. A
    /// change with its own valid time is always kept.
    pub fn always(&mut self, is_always: bool) -> &mut Transaction {
        self.is_always = is_always;
        self
    }

    /// The value set with [`Transaction::valid_from`].
    pub fn own_valid_from(&self) -> Option<Instant> {
        self.valid_from
    }

    /// The value set with [`Transaction::always`].
    pub fn is_always(&self) -> bool {
        self.is_always
    }

    /// Makes the commit fail with `Conflict` also if an instance that this transaction *read* has changed.
    ///
    /// Reads through the methods of the transaction count one by one; [`Transaction::view`] and [`Transaction::tree`]
    /// count as reading everything. Call this before any read. The first call in the life of a repository counts all
    /// commits since the snapshot as conflicts.
    pub fn serializable(&mut self) -> &mut Transaction {
        self.is_serializable = true;
        self.committer.is_remembering.store(true, Ordering::Relaxed);
        self
    }

    /// The base snapshot of this transaction, without its own changes.
    pub fn base(&self) -> &Snapshot {
        &self.base
    }

    /// Number of changes so far, without those that change nothing. If it is 0, the commit writes no record.
    pub fn changes_count(&self) -> usize {
        self.record.changes.len()
    }

    /// The actions of its changes so far, in order.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.record.changes.iter().map(|change| &change.action)
    }

    /// Creates an entity; returns its id. Attributes of its type without a value get their default.
    pub fn create_entity(&mut self, mut entity: NewEntity) -> Result<Id> {
        self.complete_entity(&mut entity)?;
        let id = entity.id.clone();
        self.push(entity)?;
        Ok(id)
    }

    /// Creates a relationship between two entities; returns its id.
    pub fn create_relationship(&mut self, mut relationship: NewRelationship) -> Result<Id> {
        self.complete_relationship(&mut relationship)?;
        let id = relationship.id.clone();
        self.push(relationship)?;
        Ok(id)
    }

    /// Changes some properties.
    pub fn update(&mut self, instance: &InstanceId, patch: Patch) -> Result<()> {
        self.push(action::Update { instance: instance.clone(), patch, provenance: None })
    }

    /// Replaces all properties; classifications stay.
    pub fn replace(&mut self, instance: &InstanceId, properties: Vec<(Arc<str>, Value)>) -> Result<()> {
        check_properties(&properties)?;
        self.push(action::Replace {
            instance: instance.clone(),
            properties,
            classifications: None,
            provenance: None,
        })
    }

    /// Deletes an instance: a new version with status deleted. An entity's live relationships, and everything that it
    /// contains, are deleted with it.
    pub fn delete(&mut self, instance: &InstanceId) -> Result<()> {
        self.push(action::Delete { instance: instance.clone() })
    }

    /// Restores a deleted instance. An entity is restored with everything it contained, and with the relationships that
    /// were deleted with it and have live ends.
    pub fn restore(&mut self, instance: &InstanceId) -> Result<()> {
        self.push(action::Restore { instance: instance.clone(), with_relationships: true })
    }

    /// Restores a deleted entity with everything it contained, but without its relationships.
    pub fn restore_alone(&mut self, entity: &Id) -> Result<()> {
        self.push(action::Restore { instance: InstanceId::Entity(entity.clone()), with_relationships: false })
    }

    /// Deletes an instance permanently with its whole history; an entity with all its relationships and everything it
    /// contains. The next [`Repository::compact`](crate::Repository::compact) removes the bytes from the log.
    pub fn purge(&mut self, instance: &InstanceId) -> Result<()> {
        self.push(action::Purge { instance: instance.clone() })
    }

    /// Attaches a classification to an entity.
    pub fn classify(&mut self, entity: &Id, mut classification: ClassificationContent) -> Result<()> {
        check_name("classification", &classification.name)?;
        check_properties(&classification.properties)?;
        let ClassificationContent { name, properties, .. } = &mut classification;
        self.add_defaults(TypeKind::Classification, name, properties)?;
        self.push(action::Classify { entity: entity.clone(), content: classification })
    }

    /// Changes some properties of a classification.
    pub fn reclassify(&mut self, entity: &Id, classification: &str, patch: Patch) -> Result<()> {
        self.push(action::Reclassify {
            entity: entity.clone(),
            name: classification.into(),
            patch,
            provenance: None,
        })
    }

    /// Removes a classification from an entity.
    pub fn declassify(&mut self, entity: &Id, classification: &str) -> Result<()> {
        self.push(action::Declassify { entity: entity.clone(), name: classification.into() })
    }

    /// Adds a change in the form of a record, for importers of history. Anchors are computed again.
    pub fn push_action(&mut self, action: impl Into<Action>) -> Result<()> {
        self.push(action)
    }

    /// Adds a change, unless it would change nothing.
    pub(in crate::write) fn push(&mut self, action: impl Into<Action>) -> Result<()> {
        let mut action = action.into();
        self.check_limits(&action)?;
        if self.is_as_declared {
            self.read_declared(&mut action)?;
        }
        if !self.is_always && self.valid_from.is_none() && self.changes_nothing(&action) {
            // Another transaction may change the instance meanwhile, so this counts as a read.
            self.reads.extend(action.instance());
            self.left_out_count += 1;
            return Ok(());
        }
        self.push_always(action)
    }

    /// True if `action` would not change the base with the changes so far.
    pub(super) fn changes_nothing(&mut self, action: &Action) -> bool {
        if !action.may_change_nothing() {
            return false;
        }
        if !self.touched.concerns(&self.record.changes, action) {
            return action.is_unchanged(self.base.graph()).unwrap_or(false);
        }
        // Order: checked first, since each attempt costs as much as all changes.
        if self.is_broken {
            return false;
        }
        match self.own_graph() {
            Ok(own) => action.is_unchanged(own.graph()).unwrap_or(false),
            Err(_) => {
                self.is_broken = true;
                false
            }
        }
    }

    pub(in crate::write) fn push_always(&mut self, action: Action) -> Result<()> {
        if self.record.changes.len() >= CHANGES_MAX {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("transaction: expected at most {CHANGES_MAX} changes; commit in parts"),
            ));
        }
        if self.rights.is_some() {
            // Order: also for changes that do not come through `push`.
            self.check_present()?;
            self.has_restored |= matches!(action, Action::Restore(_));
        }
        self.check_new_id(&action)?;
        check_counts(self.base.graph(), &action)?;
        self.check_classifications(&action)?;
        self.check_new_values(&action)?;
        let Some(action) = self.merge(action)? else { return Ok(()) };
        if matches!(action, Action::DefineType(_)) {
            self.defines_types = true;
            self.typed = None;
        }
        let change = Change { valid_from: self.valid_from, ..Change::from(action) };
        self.allow_returning(&change)?;
        self.record_mut().changes.push(change);
        Ok(())
    }

    /// Refuses ids that clients cannot put into a path, unless an instance has or had the id already.
    fn check_new_id(&self, action: &Action) -> Result<()> {
        let Some(id) = action.new_id().filter(|id| id.is_dots()) else { return Ok(()) };
        let is_known = action.instance().is_some_and(|instance| {
            let table = self.base.graph().table(kind_of(&instance));
            table.slot(id).or_else(|| table.former_ids.slot(id)).is_some()
        });
        if is_known {
            return Ok(());
        }
        let text =
            format!("id {id}: in a path it means a folder, and clients take it out; choose another id");
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }

    /// Checks names and values of an entity, and adds the defaults of its type and classifications.
    pub(super) fn complete_entity(&mut self, entity: &mut NewEntity) -> Result<()> {
        check_name("type", &entity.type_name)?;
        check_properties(&entity.properties)?;
        self.add_defaults(TypeKind::Entity, &entity.type_name, &mut entity.properties)?;
        for classification in &mut entity.classifications {
            check_name("classification", &classification.name)?;
            check_properties(&classification.properties)?;
            let ClassificationContent { name, properties, .. } = classification;
            self.add_defaults(TypeKind::Classification, name, properties)?;
        }
        Ok(())
    }

    /// Checks names and values of a relationship, and adds the defaults of its type.
    pub(super) fn complete_relationship(&mut self, relationship: &mut NewRelationship) -> Result<()> {
        check_name("type", &relationship.type_name)?;
        check_properties(&relationship.properties)?;
        self.add_defaults(TypeKind::Relationship, &relationship.type_name, &mut relationship.properties)
    }

    fn add_defaults(
        &mut self,
        kind: TypeKind,
        type_name: &str,
        properties: &mut Vec<(Arc<str>, Value)>,
    ) -> Result<()> {
        let graph = self.typed()?.graph();
        if graph.types.is_empty() {
            return Ok(());
        }
        let Some(declared) = graph.names.find(type_name).and_then(|name| graph.types.get(kind, name)) else {
            return Ok(());
        };
        for attribute in declared.attributes.values().map(|attribute| &attribute.definition) {
            if let Some(value) = &attribute.default
                && !properties.iter().any(|(name, _)| *name == attribute.name)
            {
                properties.push((Arc::clone(&attribute.name), value.clone()));
            }
        }
        Ok(())
    }

    /// A snapshot with the types that this transaction declares.
    pub(in crate::write) fn typed(&mut self) -> Result<&Snapshot> {
        if self.defines_types && self.typed.is_none() {
            self.typed = Some(self.current()?.clone());
        }
        Ok(self.typed.as_ref().unwrap_or(&self.base))
    }

    /// True if it imports history.
    pub(super) fn is_history(&self) -> bool {
        self.instant.is_some()
    }

    pub(in crate::write) fn current(&mut self) -> Result<&Snapshot> {
        if self.view.is_none() && !self.record.changes.is_empty() {
            self.view = Some(self.speculate()?);
        }
        Ok(self.view.as_ref().unwrap_or(&self.base))
    }

    /// The record, to be changed. A view that the caller has kept keeps the old one.
    pub(in crate::write) fn record_mut(&mut self) -> &mut Record {
        // Order: what only the view shares must not be copied.
        self.view = None;
        Arc::make_mut(&mut self.record)
    }

    /// The base with all changes applied, for look-ups.
    pub(in crate::write) fn own_graph(&mut self) -> Result<&OwnGraph> {
        self.bring_up().map(|own| &*own)
    }

    fn bring_up(&mut self) -> Result<&mut OwnGraph> {
        let mut own = match self.own.take().filter(|own| own.can_go_on(&self.record.changes)) {
            Some(own) => own,
            None => {
                let base = self.base.indexed();
                let last = Instant::from_checked_micros(base.graph.last_instant());
                let instant = commit_instant(&self.committer.clock, last, last, self.instant)?;
                Box::new(OwnGraph::new(base, instant))
            }
        };
        own.go_on(&self.record, self.base.source().memory())?;
        Ok(self.own.insert(own))
    }

    fn speculate(&mut self) -> Result<Snapshot> {
        let own = self.bring_up()?;
        let (instant, indexed) = (own.instant(), own.indexed());
        if self.record.instant != instant {
            self.record_mut().instant = instant;
        }
        let base = self.edits.map_or(Position::ZERO, |(base, _)| base);
        let pending = Pending { position: indexed.graph.position.0, record: Arc::clone(&self.record), base };
        let position = Position(pending.position);
        let view = Snapshot::with_pending(indexed, Arc::clone(self.base.source()), pending);
        view.seen_after(&self.base, position, &self.record)
    }
}

pub(super) fn check_properties(properties: &[(Arc<str>, Value)]) -> Result<()> {
    properties.iter().try_for_each(|(name, value)| {
        check_name("property", name)?;
        value.check(name)
    })
}
