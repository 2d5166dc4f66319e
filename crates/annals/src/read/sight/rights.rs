//! Rights: what a writer with some grants may change.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::Sight;
use super::displaced::displaced;
use super::grant::Grant;
use super::resolved_grants::ResolvedGrants;
use crate::graph::instance::headers::RowHeader;
use crate::graph::instance_id;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Id, TypeKind};
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::read::taken_along::Slot;
use crate::{Error, ErrorKind, Result};

impl Sight {
    /// True if a grant admits the entity as `snapshot` has it, deleted or not, whatever it is now: for those who explain
    /// grants.
    ///
    /// Errors: those of reading long values.
    pub fn admits(&self, snapshot: &Snapshot, entity: &Id) -> Result<bool> {
        let whole = snapshot.unsighted();
        match whole.slot_ever(TypeKind::Entity, entity) {
            Some(slot) => ResolvedGrants::for_few(&whole, self)?.admit_entity(&whole, slot),
            None => Ok(false),
        }
    }
}

/// A kind of change, as grants allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// To create instances, and to restore deleted ones.
    Create,
    /// To change properties and headers.
    Update,
    /// To delete instances.
    Delete,
    /// To add, change and remove classifications.
    Classify,
}

impl Right {
    /// All rights.
    pub const ALL: [Right; 4] = [Right::Create, Right::Update, Right::Delete, Right::Classify];

    /// Its name in every door.
    pub fn name(self) -> &'static str {
        match self {
            Right::Create => "create",
            Right::Update => "update",
            Right::Delete => "delete",
            Right::Classify => "classify",
        }
    }
}

/// The rights of a writer: it sees what its grants admit, and changes what grants with the right to do so admit.
///
/// An entity must be admitted before and after a change. A relationship must be in sight, and a grant must admit one of its
/// ends for the change, with the type of the relationship. The container must be admitted to put something into it, and
/// everything that moves, by [`Right::Update`], before and after.
///
/// ```
/// use std::sync::Arc;
/// use annals::{ErrorKind, Grant, NewEntity, Repository, Right, Rights};
/// let repository = Repository::in_memory();
/// let pages = Grant { entities: "page where team = own".parse()?, ..Grant::default() };
/// let rights = Arc::new(Rights::new(&[(pages, vec![Right::Create])])?);
/// let create = |team: &str| {
///     repository.transact(|t| {
///         t.limit_to(&rights)?;
///         t.create_entity(NewEntity::new("page").property("team", team))
///     })
/// };
/// create("own")?;
/// assert_eq!(create("other").unwrap_err().kind(), ErrorKind::Refused);
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Debug)]
pub struct Rights {
    sight: Arc<Sight>,
    /// One for each of [`Right::ALL`].
    changes: [Sight; 4],
}

impl Rights {
    /// Each grant lets read, and do what its rights say.
    ///
    /// Errors: as [`Sight::new`].
    pub fn new(grants: &[(Grant, Vec<Right>)]) -> Result<Rights> {
        let of = |right: Right| {
            let with = grants.iter().filter(|(_, rights)| rights.contains(&right));
            Sight::new(with.map(|(grant, _)| grant.clone()).collect())
        };
        let [create, update, delete, classify] = Right::ALL;
        Ok(Rights {
            sight: Arc::new(Sight::new(grants.iter().map(|(grant, _)| grant.clone()).collect())?),
            changes: [of(create)?, of(update)?, of(delete)?, of(classify)?],
        })
    }

    /// The sight of the writer.
    pub fn sight(&self) -> &Arc<Sight> {
        &self.sight
    }

    /// True if no grant lets the writer change anything.
    pub(crate) fn are_none(&self) -> bool {
        self.changes.iter().all(|sight| sight.grants().is_empty())
    }

    /// The grants with a right: they admit the entities that the writer may change in this way.
    pub fn to(&self, right: Right) -> &Sight {
        &self.changes[right as usize]
    }

    /// Refuses changes that the writer may not make: the instances `touched` differ between the two snapshots, which have no
    /// sight.
    ///
    /// Shape: the slots of the entities by which it was decided.
    /// Errors: `Refused`; those of reading long values.
    pub(crate) fn check(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        touched: &[Slot],
    ) -> Result<BTreeSet<u32>> {
        let (has_hidden, asked) = (Cell::new(false), RefCell::default());
        let check = Check { rights: self, before, after, has_hidden, asked };
        touched.iter().try_for_each(|&(kind, slot)| match kind {
            TypeKind::Relationship => check.relationship(slot),
            _ => check.entity(slot),
        })?;
        check.moved(touched)?;
        if check.has_hidden.get() { Err(hidden()) } else { Ok(check.asked.into_inner()) }
    }
}

struct Check<'c> {
    rights: &'c Rights,
    before: &'c Snapshot,
    after: &'c Snapshot,
    /// True if something hidden is refused. Order: refusals of instances in sight come first, so that these are refused as
    /// if nothing hidden belonged to them.
    has_hidden: Cell<bool>,
    /// The entities that the grants were asked about.
    asked: RefCell<BTreeSet<u32>>,
}

impl Check<'_> {
    fn entity(&self, slot: u32) -> Result<()> {
        let kind = TypeKind::Entity;
        let (was_live, is_live) = (self.before.sees(kind, slot), self.after.sees(kind, slot));
        match (was_live, is_live) {
            (true, true) => {
                let needed = self.changed(slot)?;
                for right in needed {
                    self.admitted(right, self.before, slot)?;
                    self.admitted(right, self.after, slot)?;
                }
                Ok(())
            }
            (true, false) => self.admitted(Right::Delete, self.before, slot),
            // Also one that the transaction creates and deletes again.
            (false, _) => self.admitted(Right::Create, self.after, slot),
        }
    }

    /// The rights that the difference of a live entity needs.
    fn changed(&self, slot: u32) -> Result<Vec<Right>> {
        let kind = TypeKind::Entity;
        let read = |snapshot: &Snapshot| {
            let held = snapshot.fetch(kind, slot)?;
            snapshot.instance(kind, slot, held)
        };
        let (before, after) = (read(self.before)?, read(self.after)?);
        let header = |snapshot: &Snapshot, number| RowHeader {
            content_offset: 0,
            version_offset: 0,
            ..RowHeader::clone(snapshot.graph().headers.get(number))
        };
        let is_classified = before.classifications() != after.classifications();
        let is_same = before.id == after.id
            && before.type_name == after.type_name
            && before.properties == after.properties
            && header(self.before, before.header) == header(self.after, after.header);
        let mut needed = Vec::new();
        if is_classified {
            needed.push(Right::Classify);
        }
        if !is_same || !is_classified {
            needed.push(Right::Update);
        }
        Ok(needed)
    }

    /// Checks what moves with its container: it gets other readers and writers.
    fn moved(&self, touched: &[Slot]) -> Result<()> {
        let moved = displaced(self.before, self.after, touched)?;
        for snapshot in [self.before, self.after].into_iter().filter(|_| moved.len() > 0) {
            let grants = ResolvedGrants::for_few(snapshot, self.rights.to(Right::Update))?;
            for slot in moved.iter() {
                snapshot.check_cancelled()?;
                self.asked.borrow_mut().insert(slot);
                if !grants.admit_entity(snapshot, slot)? {
                    self.admitted(Right::Update, snapshot, slot)?;
                }
            }
        }
        Ok(())
    }

    fn admitted(&self, right: Right, snapshot: &Snapshot, slot: u32) -> Result<()> {
        self.asked.borrow_mut().insert(slot);
        if ResolvedGrants::for_few(snapshot, self.rights.to(right))?.admit_entity(snapshot, slot)? {
            return Ok(());
        }
        let is_seen = ResolvedGrants::for_few(snapshot, &self.rights.sight)?.admit_entity(snapshot, slot)?;
        self.refused(right, snapshot, (TypeKind::Entity, slot), is_seen)
    }

    fn relationship(&self, slot: u32) -> Result<()> {
        let kind = TypeKind::Relationship;
        let (was_live, is_live) = (self.before.sees(kind, slot), self.after.sees(kind, slot));
        match (was_live, is_live) {
            (true, true) => {
                let is_moved = self.shape(self.before, slot)?.1 != self.shape(self.after, slot)?.1;
                self.linked(Right::Update, self.before, slot, is_moved)?;
                self.linked(Right::Update, self.after, slot, is_moved)
            }
            (true, false) => self.linked(Right::Delete, self.before, slot, false),
            (false, _) => self.linked(Right::Create, self.after, slot, true),
        }
    }

    /// The type and the ends of a relationship.
    fn shape(&self, snapshot: &Snapshot, slot: u32) -> Result<(Symbol, [u32; 2])> {
        let kind = TypeKind::Relationship;
        let held: Held = match snapshot.seen(kind, slot, true)? {
            Some(held) => held,
            None => return Err(hidden()),
        };
        let row = snapshot.row(kind, slot, &held);
        Ok((row.type_name(), row.ends()))
    }

    /// Checks a relationship in one state. `is_placing`: it may put its end into another container.
    fn linked(&self, right: Right, snapshot: &Snapshot, slot: u32, is_placing: bool) -> Result<()> {
        let (type_name, ends) = self.shape(snapshot, slot)?;
        self.asked.borrow_mut().extend(ends);
        let sight = ResolvedGrants::for_few(snapshot, &self.rights.sight)?;
        let is_seen = sight.admit_link(type_name)
            && sight.admit_entity(snapshot, ends[0])?
            && sight.admit_entity(snapshot, ends[1])?;
        let grants = ResolvedGrants::for_few(snapshot, self.rights.to(right))?;
        let is_container = is_placing && snapshot.graph().containment(type_name).is_some();
        let deciding = if is_container { &ends[..1] } else { &ends[..] };
        let mut is_admitted = false;
        for end in deciding {
            is_admitted = is_admitted || grants.admit_entity(snapshot, *end)?;
        }
        if is_seen && is_admitted && grants.admit_link(type_name) {
            return Ok(());
        }
        self.refused(right, snapshot, (TypeKind::Relationship, slot), is_seen)
    }

    /// Only what the writer sees, or has made in this transaction, is named.
    fn refused(&self, right: Right, snapshot: &Snapshot, (kind, slot): Slot, is_seen: bool) -> Result<()> {
        let is_new = self.before.graph().table(kind).row(slot).is_none();
        if !is_seen && !is_new {
            self.has_hidden.set(true);
            return Ok(());
        }
        let instance = instance_id(kind, snapshot.graph().table(kind).id(slot).clone());
        let right = right.name();
        let text = format!("{instance}: expected a grant to {right} it, found none; ask for one");
        Err(Error::new(ErrorKind::Refused, text))
    }
}

/// The refusal names nothing that is hidden.
pub(crate) fn hidden() -> Error {
    let text =
        "change: expected grants for all that it touches, found something else that belongs to it; leave it";
    Error::new(ErrorKind::Refused, text)
}
