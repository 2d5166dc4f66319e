//! A change of some properties, in steps.

use std::sync::Arc;

use super::Value;

/// A change of some properties, in steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    /// The steps, applied in order.
    pub steps: Vec<PatchStep>,
}

/// One step of a patch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PatchStep {
    /// Gives the property this value.
    Set(Arc<str>, Value),
    /// Removes the property.
    Unset(Arc<str>),
    /// Adds a value to a multi-valued property.
    Add(Arc<str>, Value),
    /// Removes a value from a multi-valued property; the last one removes the property.
    Remove(Arc<str>, Value),
    /// Removes all properties.
    Clear,
}

impl PatchStep {
    /// The property that it changes; `None` for all.
    pub fn name(&self) -> Option<&Arc<str>> {
        match self {
            PatchStep::Set(name, _)
            | PatchStep::Unset(name)
            | PatchStep::Add(name, _)
            | PatchStep::Remove(name, _) => Some(name),
            PatchStep::Clear => None,
        }
    }
}

impl Patch {
    /// True if a step sets the property.
    pub(crate) fn sets(&self, name: &str) -> bool {
        self.steps.iter().any(|step| matches!(step, PatchStep::Set(known, _) if **known == *name))
    }

    /// A patch that changes nothing.
    pub fn new() -> Patch {
        Patch::default()
    }

    /// The same, with a step that sets a property.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Patch {
        self.steps.push(PatchStep::Set(name.into(), value.into()));
        self
    }

    /// The same, with a step that removes a property.
    #[must_use]
    pub fn unset(mut self, name: &str) -> Patch {
        self.steps.push(PatchStep::Unset(name.into()));
        self
    }

    /// The same, with a step that adds a value to a multi-valued property.
    #[must_use]
    pub fn add(mut self, name: &str, value: impl Into<Value>) -> Patch {
        self.steps.push(PatchStep::Add(name.into(), value.into()));
        self
    }

    /// The same, with a step that removes a value from a multi-valued property.
    #[must_use]
    pub fn remove(mut self, name: &str, value: impl Into<Value>) -> Patch {
        self.steps.push(PatchStep::Remove(name.into(), value.into()));
        self
    }

    /// The same, with a step that removes all properties.
    #[must_use]
    pub fn clear(mut self) -> Patch {
        self.steps.push(PatchStep::Clear);
        self
    }
}
