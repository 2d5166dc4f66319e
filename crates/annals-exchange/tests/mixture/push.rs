//! The changes of the model, as calls of the engine.

use std::sync::Arc;

use annals::*;

use crate::edit::{Work, edit};
use crate::model::{Change, Fields, Patched};
use crate::see::id;
use crate::world::World;

pub(crate) fn instance(is_link: bool, name: &str) -> InstanceId {
    if is_link { InstanceId::Relationship(id(name)) } else { InstanceId::Entity(id(name)) }
}

/// Part of a transaction, with the contents that it names: they are stored before.
pub(crate) type Stored = (Work, Vec<Arc<StoredContent>>);

impl World {
    /// Stores the contents that changes name.
    pub(crate) fn stored(&self, works: &[Work]) -> Vec<Stored> {
        let bytes = |work: &Work| match work {
            Work::Direct(Change::Store { byte, .. }) => Some(*byte),
            _ => None,
        };
        let value = |byte| {
            let contents = self.repository().contents().expect("it has contents");
            let stored = contents.put(&mut &[byte; 3][..], &NewContent::default()).expect("it can be stored");
            Arc::new(stored)
        };
        works.iter().map(|work| (work.clone(), bytes(work).map(value).into_iter().collect())).collect()
    }
}

pub(crate) fn push_all(t: &mut Transaction, works: &[Stored]) -> Result<()> {
    works.iter().try_for_each(|(work, stored)| match work {
        Work::Direct(change) => push(t, change, stored),
        Work::Tree(change) => edit(t, change),
    })
}

fn properties(fields: &Fields) -> Vec<(Arc<str>, Value)> {
    let all = [("n", fields.n), ("code", fields.code)];
    all.into_iter().filter_map(|(name, value)| Some((name.into(), value?.into()))).collect()
}

fn patch(Patched { n, code, stored }: &Patched) -> Patch {
    let step = |patch: Patch, (name, value): (&str, Option<i64>)| match value {
        Some(value) => patch.set(name, value),
        None => patch.unset(name),
    };
    let numbers = [("n", n), ("code", code)].into_iter().filter_map(|(name, value)| Some((name, (*value)?)));
    let patch = numbers.fold(Patch::new(), step);
    match stored {
        Some(None) => patch.unset("content"),
        _ => patch,
    }
}

fn push(t: &mut Transaction, change: &Change, stored: &[Arc<StoredContent>]) -> Result<()> {
    match change {
        Change::Create { id, type_name, fields } => {
            let new = NewEntity { properties: properties(fields), ..NewEntity::new(type_name) };
            t.create_entity(new.id(id.as_str())?).map(drop)
        }
        Change::Upsert { id, fields } => {
            let new = NewEntity { properties: properties(fields), ..NewEntity::new("node") };
            t.upsert_entity(new.id(id.as_str())?).map(drop)
        }
        Change::Relate { id: name, from, to } => {
            let new = NewRelationship::new("knows", id(from), id(to)).id(name.as_str())?;
            t.create_relationship(new.property("n", 0)).map(drop)
        }
        Change::Contain { id: own, from, to, name, n } => {
            let new = NewRelationship::new("contains", id(from), id(to)).id(own.as_str())?;
            let new = name.iter().fold(new, |new, name| new.property("name", name.as_str()));
            t.create_relationship(n.iter().fold(new, |new, n| new.property("n", *n))).map(drop)
        }
        Change::Set { is_link, id, n } => t.update(&instance(*is_link, id), Patch::new().set("n", *n)),
        Change::License { is_link, id, n, license } => {
            let license = license.map(|license| license.to_string().into());
            let provenance = Provenance { license, ..Provenance::default() };
            t.update_with_provenance(&instance(*is_link, id), Patch::new().set("n", *n), provenance)
        }
        Change::Store { id, .. } => {
            let value = stored.first().expect("it is stored before").value();
            t.update(&instance(false, id), Patch::new().set("content", value))
        }
        Change::Patch { id, patch: steps } => t.update(&instance(false, id), patch(steps)),
        Change::Replace { id, fields } => t.replace(&instance(false, id), properties(fields)),
        Change::Rename { id, name } => t.update(&instance(true, id), Patch::new().set("name", name.as_str())),
        Change::Delete { is_link, id } => t.delete(&instance(*is_link, id)),
        Change::Restore { is_link: false, id: name, with: false } => t.restore_alone(&id(name)),
        Change::Restore { is_link, id, .. } => t.restore(&instance(*is_link, id)),
        Change::Purge { is_link, id } => t.purge(&instance(*is_link, id)),
        Change::Undo { is_link, id, of_content: true } => t.undo_content(&instance(*is_link, id)),
        Change::Undo { is_link, id, .. } => t.undo(&instance(*is_link, id)),
        Change::Relink { id: name, from, to } => {
            t.relink(&id(name), Some(&id(from)), to.as_deref().map(id).as_ref())
        }
        Change::Reidentify { is_link, id: old, new } => t.reidentify(&instance(*is_link, old), &id(new)),
        Change::Retype { id, type_name } => t.retype(&instance(false, id), type_name),
        Change::Declare { rules } => rules.types().into_iter().try_for_each(|known| t.define_type(known)),
        Change::SaveCopy { id: name, fields } => t.save_entity_copy(copy(name, fields)),
        Change::Rehome { id } => t.rehome(&instance(false, id), "there"),
        Change::PurgeCopy { id } => t.purge_copy(&instance(false, id), "there"),
    }
}

/// An entity of the collection `there`.
fn copy(name: &str, fields: &Fields) -> EntityCopy {
    let stamp = Stamp { instant: Instant::from_micros(0).expect("1970"), author: "them".into() };
    let header = CopyHeader {
        provenance: Provenance::of_home("there"),
        version: 1,
        status: None,
        created: stamp.clone(),
        updated: stamp,
    };
    EntityCopy {
        id: id(name),
        type_name: "node".into(),
        properties: properties(fields),
        classifications: Vec::new(),
        header,
    }
}
