//! Changes of the content of one instance in one transaction, on the plain model: they are done, and then folded into
//! one version.

use std::collections::BTreeMap;

use annals::*;

use super::reference::{Known, Reference};

/// The instances whose last change in this transaction may take another one, each with the verb of that change.
pub(super) struct Merges {
    targets: BTreeMap<InstanceId, &'static str>,
    is_off: bool,
}

impl Merges {
    pub(super) fn new(is_off: bool) -> Merges {
        Merges { targets: BTreeMap::new(), is_off }
    }

    /// Folds the version that `action` has just made into the one before; false if it stays.
    pub(super) fn fold(
        &mut self,
        model: &mut Reference,
        action: &Action,
        is_kept: bool,
        is_dated: bool,
    ) -> bool {
        match action {
            Action::DefineType(..) => self.is_off = true,
            Action::Delete(..)
            | Action::Restore(..)
            | Action::Purge(..)
            | Action::Reidentify(..)
            | Action::SaveEntity(..)
            | Action::SaveRelationship(..)
            | Action::PurgeCopy(..)
            | Action::NameCollection(..) => {
                self.targets.clear();
                return false;
            }
            _ => {}
        }
        let Some(instance) = action.instance() else { return false };
        let earlier = self.targets.remove(&instance);
        let own = match action {
            Action::CreateEntity(..) | Action::CreateRelationship(..) => Some("create"),
            Action::Update(..) => Some("update"),
            Action::Replace(..) => Some("replace"),
            _ => None,
        };
        let folded = match (earlier, action) {
            _ if self.is_off || is_kept => None,
            // A provenance is checked with the change that states it.
            (_, Action::Update(update)) if update.provenance.is_some() => None,
            (_, Action::Replace(replace)) if replace.provenance.is_some() => None,
            (Some("create" | "replace"), Action::Replace(replace)) if replace.classifications.is_some() => {
                None
            }
            (Some("create"), Action::Update(..) | Action::Replace(..) | Action::Classify(..)) => {
                Some("create")
            }
            (Some("replace"), Action::Update(..)) | (Some("replace" | "update"), Action::Replace(..)) => {
                Some("replace")
            }
            (Some("update"), Action::Update(..)) => Some("update"),
            _ => None,
        };
        match folded {
            Some(verb) => fold_last(model, &instance, verb),
            None if is_dated => {}
            None => {
                self.targets.extend(own.map(|verb| (instance.clone(), verb)));
            }
        }
        if let Some(verb) = folded {
            self.targets.insert(instance, verb);
        }
        folded.is_some()
    }
}

fn fold_last(model: &mut Reference, instance: &InstanceId, verb: &'static str) {
    let key = model.find(instance).expect("it was just changed");
    let Known { versions, .. } = model.at_mut(key);
    let last = versions.pop().expect("it was just made");
    let kept = versions.last_mut().expect("an earlier change made it");
    (kept.image, kept.updated, kept.verb) = (last.image, last.updated, verb);
}
