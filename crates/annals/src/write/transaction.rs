//! A transaction: changes over one snapshot, seen by its own reads, committed together or not at all.

use crate::graph::actions as action;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::anchor;
use super::clock::commit_instant;
use super::correction;
use super::expectations::Expectations;
use super::own_graph::OwnGraph;
use super::properties::check_counts;
use super::queue::Committer;
use super::reads::Reads;
use super::request::{OwnStamps, Work};
use super::ticket::{Receipt, Ticket};
use super::touched::Touched;
use super::tree::Created;
use crate::graph::{check_conflicts, find_conflict, kind_of};
use crate::memory::Charge;
use crate::model::{
    Action, Change, ClassificationContent, Id, InstanceId, Instant, NewEntity, NewRelationship, Patch,
    Record, Stamp, Status, TypeKind, Value, check_name,
};
use crate::read::{Pending, Snapshot};
use crate::record::{CHANGES_MAX, RECORD_BYTES_MAX, RecordBody};
use crate::{Error, ErrorKind, Position, Result};

/// Largest transaction. Units: bytes of its record.
pub const TRANSACTION_BYTES_MAX: usize = RECORD_BYTES_MAX;
/// How often [`Repository::transact`](crate::Repository::transact) retries a transaction that lost a race.
pub const RETRIES_MAX: usize = 100;

/// Changes over one snapshot. Nothing is visible to others, or durable, before [`Transaction::commit`].
///
/// Each change makes one version. A change that would leave the instance, or the type, as it is makes none: it is left
/// out, unless [`Transaction::always`] or [`Transaction::valid_from`] says otherwise. It then counts as a read of the
/// instance, and as no change in [`Transaction::changes_count`]. Dropping the transaction forgets it.
pub struct Transaction {
    pub(super) committer: Arc<Committer>,
    pub(super) base: Snapshot,
    pub(super) author: Arc<str>,
    pub(super) message: Arc<str>,
    valid_from: Option<Instant>,
    pub(super) is_always: bool,
    instant: Option<Instant>,
    is_serializable: bool,
    pub(super) reads: Reads,
    pub(super) expectations: Expectations,
    pub(super) changes: Vec<Change>,
    // How many of them were made of an older base, and of which: the edits of a candidate.
    edits: Option<(Position, usize)>,
    // Classifications that get the stamps of the commit.
    pub(super) stamped: Vec<OwnStamps>,
    pub(super) touched: Touched,
    pub(super) created: Created,
    // How many changes were left out, because they would change nothing.
    left_out_count: usize,
    // True once a change declares a type: defaults then come from the transaction's own view.
    pub(super) defines_types: bool,
    // The view after the last declaration, for the defaults of what follows.
    typed: Option<Snapshot>,
    // The base with the first changes; made when something first needs it.
    own: Option<Box<OwnGraph>>,
    // True if a change cannot be applied to the base: the commit tells why, and nothing is left out any more.
    is_broken: bool,
    // The same for reads, with the number of its changes.
    view: Option<(Snapshot, usize)>,
}

impl Transaction {
    pub(crate) fn new(committer: Arc<Committer>, base: Snapshot) -> Transaction {
        Transaction {
            committer,
            base,
            author: Arc::default(),
            message: Arc::default(),
            valid_from: None,
            is_always: false,
            instant: None,
            is_serializable: false,
            reads: Reads::default(),
            expectations: Expectations::default(),
            changes: Vec::new(),
            edits: None,
            stamped: Vec::new(),
            touched: Touched::default(),
            created: Created::default(),
            left_out_count: 0,
            defines_types: false,
            typed: None,
            own: None,
            is_broken: false,
            view: None,
        }
    }

    /// Says who commits.
    pub fn author(&mut self, author: &str) -> &mut Transaction {
        if *self.author != *author {
            self.author = author.into();
        }
        self
    }

    /// Says why.
    pub fn message(&mut self, message: &str) -> &mut Transaction {
        if *self.message != *message {
            self.message = message.into();
        }
        self
    }

    /// Says from when the changes that follow are true; `None` for the commit instant.
    ///
    /// Corrections of the past are changes of content; deletions and restorations must not be earlier than the
    /// version they end.
    pub fn valid_from(&mut self, instant: Option<Instant>) -> &mut Transaction {
        self.valid_from = instant;
        self
    }

    /// Keeps changes that follow even if they change nothing: each makes a version, as for those who count versions. A
    /// change that claims its own valid time is kept in any case.
    pub fn always(&mut self, is_always: bool) -> &mut Transaction {
        self.is_always = is_always;
        self
    }

    /// True after [`Transaction::always`] was told so.
    pub fn is_always(&self) -> bool {
        self.is_always
    }

    /// Sets the commit instant, to carry history over from elsewhere. It must not be before the last record's, nor
    /// in the future; both are checked at commit.
    pub fn committed_at(&mut self, instant: Instant) -> &mut Transaction {
        self.instant = Some(instant);
        self.own = None;
        self
    }

    /// Makes the commit fail with `Conflict` also if something this transaction *read* has changed.
    ///
    /// Reads through the methods of the transaction count one by one; [`Transaction::view`] and [`Transaction::tree`] count as
    /// having read everything. Say so before anything is read: commits that came between the snapshot and the first call of this
    /// method in the life of a repository count as conflicts.
    pub fn serializable(&mut self) -> &mut Transaction {
        self.is_serializable = true;
        self.committer.is_remembering.store(true, Ordering::Relaxed);
        self
    }

    /// The snapshot this transaction is based on, without its own changes.
    pub fn base(&self) -> &Snapshot {
        &self.base
    }

    /// Number of changes so far, without those that change nothing. Without any, the commit writes no record.
    pub fn changes_count(&self) -> usize {
        self.changes.len()
    }

    /// Creates an entity; returns its id. Attributes of its type that have a default and no value get it.
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
        self.push(action::Update { instance: instance.clone(), patch })
    }

    /// Puts other properties in the place of all there are; classifications stay.
    pub fn replace(&mut self, instance: &InstanceId, properties: Vec<(Arc<str>, Value)>) -> Result<()> {
        check_properties(&properties)?;
        self.push(action::Replace { instance: instance.clone(), properties, classifications: None })
    }

    /// Deletes an instance: a new version with status deleted. An entity takes its live relationships along, and all that it contains.
    pub fn delete(&mut self, instance: &InstanceId) -> Result<()> {
        self.push(action::Delete { instance: instance.clone() })
    }

    /// Brings a deleted instance back; an entity with what it contained, and the relationships that went with it and have live ends.
    pub fn restore(&mut self, instance: &InstanceId) -> Result<()> {
        self.push(action::Restore { instance: instance.clone(), with_relationships: true })
    }

    /// Brings a deleted entity back with what it contained, and without its relationships.
    pub fn restore_alone(&mut self, entity: &Id) -> Result<()> {
        self.push(action::Restore { instance: InstanceId::Entity(entity.clone()), with_relationships: false })
    }

    /// Removes an instance with its whole history, an entity with all its relationships and all that it contains. The bytes leave the log
    /// with the next [`Repository::compact`](crate::Repository::compact).
    pub fn purge(&mut self, instance: &InstanceId) -> Result<()> {
        self.push(action::Purge { instance: instance.clone() })
    }

    /// Takes the last change of an instance back, as a new version.
    ///
    /// Errors: `NotFound`; `InvalidArgument` if it has only its first version.
    pub fn undo(&mut self, instance: &InstanceId) -> Result<()> {
        self.reads.instance(instance.clone());
        let snapshot = self.current()?;
        let (slot, known) = snapshot.known(instance)?;
        let Some(before) = known.version_numbered(known.base) else {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "undo {instance}: expected a version before version {}; delete it instead",
                    known.version
                ),
            ));
        };
        let actions = match (known.status, before.status) {
            (Status::Deleted, _) => vec![Action::Restore(action::Restore {
                instance: instance.clone(),
                with_relationships: true,
            })],
            (_, Status::Deleted) => vec![Action::Delete(action::Delete { instance: instance.clone() })],
            _ => super::undo::undone(snapshot, instance, slot, &known, before)?,
        };
        // The version before may be equal; it is made again all the same.
        actions.into_iter().try_for_each(|action| self.push_always(action))
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
        self.push(action::Reclassify { entity: entity.clone(), name: classification.into(), patch })
    }

    /// Takes a classification off an entity.
    pub fn declassify(&mut self, entity: &Id, classification: &str) -> Result<()> {
        self.push(action::Declassify { entity: entity.clone(), name: classification.into() })
    }

    /// Adds a change as it stands in a record: what an importer of history has. Anchors are made anew.
    pub fn push_action(&mut self, action: impl Into<Action>) -> Result<()> {
        self.push(action)
    }

    /// Adds a change, unless it would change nothing.
    pub(super) fn push(&mut self, action: impl Into<Action>) -> Result<()> {
        let action = action.into();
        if !self.is_always && self.valid_from.is_none() && self.changes_nothing(&action) {
            // Another transaction may change it meanwhile; this one has seen it as it is now.
            self.reads.extend(action.instance());
            self.left_out_count += 1;
            return Ok(());
        }
        self.push_always(action)
    }

    /// True if the base with the changes so far is already as `action` would leave it.
    pub(super) fn changes_nothing(&mut self, action: &Action) -> bool {
        if !action.may_change_nothing() {
            return false;
        }
        if !self.touched.concerns(&self.changes, action) {
            return action.is_unchanged(self.base.graph()).unwrap_or(false);
        }
        // Order: asked first, since each try costs as much as all changes do.
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

    pub(super) fn push_always(&mut self, action: Action) -> Result<()> {
        if self.changes.len() >= CHANGES_MAX {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("transaction: expected at most {CHANGES_MAX} changes; commit in parts"),
            ));
        }
        self.check_new_id(&action)?;
        check_counts(self.base.graph(), &action)?;
        self.check_classifications(&action)?;
        if matches!(action, Action::DefineType(_)) {
            self.defines_types = true;
            self.typed = None;
        }
        self.changes.push(Change { valid_from: self.valid_from, ..Change::from(action) });
        Ok(())
    }

    /// Refuses ids that no client can put into a path, unless an instance has or had them before this rule.
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
    pub(super) fn typed(&mut self) -> Result<&Snapshot> {
        if self.defines_types && self.typed.is_none() {
            self.typed = Some(self.current()?.clone());
        }
        Ok(self.typed.as_ref().unwrap_or(&self.base))
    }

    /// True if it carries history over from elsewhere.
    pub(super) fn is_history(&self) -> bool {
        self.instant.is_some()
    }

    pub(super) fn current(&mut self) -> Result<&Snapshot> {
        let count = self.changes.len();
        let is_fresh = count == 0 || self.view.as_ref().is_some_and(|(_, applied)| *applied == count);
        if !is_fresh {
            self.view = Some((self.speculate()?, count));
        }
        Ok(self.view.as_ref().map_or(&self.base, |(view, _)| view))
    }

    /// The base with all changes applied, to look instances up in.
    pub(super) fn own_graph(&mut self) -> Result<&OwnGraph> {
        self.bring_up().map(|own| &*own)
    }

    fn bring_up(&mut self) -> Result<&mut OwnGraph> {
        let mut own = match self.own.take().filter(|own| own.can_go_on(&self.changes)) {
            Some(own) => own,
            None => {
                let base = self.base.indexed();
                let last = Instant::from_checked_micros(base.graph.last_instant());
                let instant = commit_instant(&self.committer.clock, last, self.instant)?;
                Box::new(OwnGraph::new(base, instant))
            }
        };
        let record = self.record(Vec::new());
        own.go_on(&self.changes, record, self.base.source().memory())?;
        Ok(self.own.insert(own))
    }

    fn speculate(&mut self) -> Result<Snapshot> {
        let own = self.bring_up()?;
        let (instant, indexed) = (own.instant(), own.indexed());
        let record = Record { instant, ..self.record(self.changes.clone()) };
        let pending = Pending { position: indexed.graph.position.0, record: Arc::new(record) };
        Ok(Snapshot::with_pending(Arc::new(indexed), Arc::clone(self.base.source()), pending))
    }

    fn record(&self, changes: Vec<Change>) -> Record {
        Record {
            instant: self.instant.unwrap_or_default(),
            author: Arc::clone(&self.author),
            message: Arc::clone(&self.message),
            valid_from: None,
            changes,
        }
    }

    /// The snapshot as it would be after the commit, without committing.
    ///
    /// Errors: as [`Transaction::commit`] has them for the changes; what was read and the record's size are not
    /// looked at.
    pub fn dry_run(self) -> Result<Snapshot> {
        let latest = self.committer.snapshot();
        self.expectations.check(latest.graph())?;
        find_conflict(latest.graph(), self.base.graph().position, &self.changes)?;
        if let Some((base, count)) = self.edits {
            check_conflicts(latest.graph(), base, &self.changes[..count])?;
        }
        let mut transaction = Transaction { base: latest, own: None, view: None, ..self };
        transaction.own_graph()?.check_end()?;
        transaction.check_corrections()?;
        let after = transaction.current()?.clone();
        transaction.committer.validators.check_tried(transaction.base, &after)?;
        Ok(after)
    }

    /// Commits; returns when it is durable. Without a change to make, nothing is written, and the receipt tells of the last
    /// record that this transaction sees.
    ///
    /// Errors: `Conflict` if another transaction changed the same instances first: take a new transaction and try
    /// again. `PreconditionFailed` if an instance has another version than expected. `InvalidProperty`, `TypeViolation`, `MissingEnd`, `NotUnique`, `Cardinality`, `NotFound`, `AlreadyExists`, `Deleted` and
    /// their like if a change is not allowed. `Unavailable` if the log failed: the outcome is unknown.
    pub fn commit(self) -> Result<Receipt> {
        self.hand_over(Committer::enqueue_or_lead)?.wait()
    }

    /// Hands the transaction over for commit and returns at once with a ticket; waits only while the queue is full.
    ///
    /// Errors: `TooLarge`, `ReadOnly`, `Closed`. What is wrong with the changes, the ticket tells.
    pub fn submit(self) -> Result<Ticket> {
        self.hand_over(|committer, work| committer.enqueue(work, true))
    }

    /// As [`Transaction::submit`], but never waits.
    ///
    /// Errors: `Busy` while the queue is full.
    pub fn try_submit(self) -> Result<Ticket> {
        self.hand_over(|committer, work| committer.enqueue(work, false))
    }

    fn hand_over(mut self, enqueue: impl FnOnce(&Committer, Box<Work>) -> Result<Ticket>) -> Result<Ticket> {
        if self.changes.is_empty() {
            if self.left_out_count > 0 {
                // A write is refused where nothing is written, also if it happens to change nothing.
                self.committer.state().check_writable()?;
            }
            // Also a serializable transaction: what it read is one snapshot, and so is what it expects.
            self.expectations.check(self.base.graph())?;
            let position = self.base.position();
            let instant = self.base.instant_of(position).unwrap_or_default();
            return Ok(Ticket::done(Ok(Receipt { position, instant })));
        }
        self.check_corrections()?;
        // What another version of the graph shares with these must be copied to be changed.
        (self.own, self.view, self.typed) = (None, None, None);
        let Transaction { committer, base, author, message, instant, mut changes, edits, .. } = self;
        anchor::attach(&base, &mut changes, || Stamp {
            instant: instant.unwrap_or_else(Instant::now),
            author: Arc::clone(&author),
        });
        let record =
            Record { instant: instant.unwrap_or_default(), author, message, valid_from: None, changes };
        let body = RecordBody::encode(&record.author, &record.message, None, &record.changes);
        check_record_size(&body)?;
        let work = Work {
            base: base.graph().position,
            record,
            body,
            instant,
            reads: self.is_serializable.then_some(self.reads),
            edits,
            stamped: self.stamped,
            charge: Charge::default(),
            expectations: self.expectations,
        };
        enqueue(&committer, Box::new(work))
    }

    /// Begins with the edits of a candidate, which were made of another base.
    pub(super) fn take_edits(&mut self, edits: Vec<Change>, base: Position) {
        self.edits = Some((base, edits.len()));
        self.defines_types = edits.iter().any(|change| matches!(change.action, Action::DefineType(_)));
        self.changes = edits;
    }

    /// Adds a change if it can be applied.
    pub(super) fn try_change(&mut self, change: &Change) -> Result<()> {
        let before = self.own.clone();
        self.changes.push(change.clone());
        self.own_graph().map(drop).inspect_err(|_| {
            self.changes.pop();
            self.own = before;
        })
    }

    /// Refuses what no record has room for.
    ///
    /// Errors: `TooLarge`.
    pub(super) fn check_size(&self) -> Result<()> {
        check_record_size(&RecordBody::encode(&self.author, &self.message, None, &self.changes))
    }

    /// Refuses corrections of the past that do not fit what was there: only the log knows it, so the graph cannot.
    ///
    /// Nobody else can have changed the instance when the commit succeeds, so what is checked here holds then.
    fn check_corrections(&mut self) -> Result<()> {
        let instances = correction::find(self.base.graph(), &self.changes);
        if instances.is_empty() {
            return Ok(());
        }
        let snapshot = self.current()?;
        instances.iter().try_for_each(|instance| correction::check(snapshot, instance))
    }
}

fn check_properties(properties: &[(Arc<str>, Value)]) -> Result<()> {
    properties.iter().try_for_each(|(name, value)| {
        check_name("property", name)?;
        value.check(name)
    })
}

fn check_record_size(body: &RecordBody) -> Result<()> {
    let bytes = body.record_bytes_max();
    if bytes <= TRANSACTION_BYTES_MAX {
        return Ok(());
    }
    let text = format!(
        "transaction: expected at most {TRANSACTION_BYTES_MAX} bytes, found {bytes}; commit in parts"
    );
    Err(Error::new(ErrorKind::TooLarge, text))
}
