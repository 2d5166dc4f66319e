//! Changes that change nothing, on the plain model: they are done, and taken back if the version is like the one before.

use annals::action;
use annals::*;

use super::reference::{Properties, Reference, Shape, Version};

impl Reference {
    /// True if the action declares what is declared.
    pub(super) fn is_declared(&self, action: &Action) -> bool {
        match action {
            Action::DefineType(definition) => {
                self.definition(definition.kind, &definition.name, u64::MAX) == Some(definition)
            }
            Action::NameCollection(action::NameCollection { name }) => self.collection.as_ref() == Some(name),
            _ => false,
        }
    }

    /// Takes back what an action has just done, if that changed nothing; true if it did.
    pub(super) fn take_back_idle(&mut self, action: &Action, was_declared: bool) -> bool {
        match action {
            Action::DefineType(_) if was_declared => {
                self.definitions.pop();
                return true;
            }
            Action::Update(..)
            | Action::Replace(..)
            | Action::Reclassify(..)
            | Action::SetStatus(..)
            | Action::SetProvenance(..)
            | Action::Retype(..)
            | Action::Relink(..) => {}
            _ => return was_declared,
        }
        let instance = action.instance().expect("these are about one");
        let key = self.find(&instance).expect("it was just changed");
        let versions = &mut self.at_mut(key).versions;
        let after = versions.last().expect("it was just made");
        let before = versions.iter().find(|version| version.number == after.base).expect("it was changed");
        let is_idle = before.is_like(after);
        if is_idle {
            versions.pop();
        }
        is_idle
    }
}

impl Version {
    /// True if both say the same, whenever and by whom it was written.
    fn is_like(&self, other: &Version) -> bool {
        let shape = |version: &Version| Shape { home_version: 0, ..version.shape.clone() };
        let classified = |version: &Version| -> Vec<(String, Properties, Option<Provenance>)> {
            let all = version.image.classifications.iter();
            all.map(|(name, known)| (name.clone(), known.properties.clone(), known.provenance.clone()))
                .collect()
        };
        self.status == other.status
            && shape(self) == shape(other)
            && self.image.properties == other.image.properties
            && classified(self) == classified(other)
    }
}
