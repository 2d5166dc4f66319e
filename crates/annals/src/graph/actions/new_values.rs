//! Values that only new records must not have.

use crate::Result;
use crate::graph::Graph;
use crate::graph::instance::patch::ValueChange;
use crate::graph::instance::properties::Properties;
use crate::model::PatchStep;

impl Graph {
    /// Refuses values that no new record may have. What had such a value `before`, from an older log, may keep it.
    ///
    /// Errors: `InvalidArgument` for a text that is no IRI.
    pub(crate) fn check_new_properties(
        &self,
        before: Option<&Properties>,
        properties: &Properties,
    ) -> Result<()> {
        if !self.is_bounded {
            return Ok(());
        }
        let is_new = |name, value| before.and_then(|before| before.get(name)) != Some(value);
        let mut new = properties.iter().filter(|(name, value)| is_new(*name, value));
        new.try_for_each(|(name, value)| value.check_iris(self.names.name(name)))
    }

    /// The same for the values that a change adds.
    pub(crate) fn check_new_values(&self, changes: &[ValueChange]) -> Result<()> {
        if !self.is_bounded {
            return Ok(());
        }
        changes.iter().try_for_each(|change| match change {
            ValueChange::Added(name, value) => value.check_iris(self.names.name(*name)),
            ValueChange::Removed(..) => Ok(()),
        })
    }

    /// The same for the values that a correction of the past adds.
    pub(crate) fn check_new_steps(&self, steps: &[PatchStep]) -> Result<()> {
        if !self.is_bounded {
            return Ok(());
        }
        steps.iter().try_for_each(|step| match step {
            PatchStep::Set(name, value) | PatchStep::Add(name, value) => value.check_iris(name),
            PatchStep::Unset(_) | PatchStep::Remove(..) | PatchStep::Clear => Ok(()),
        })
    }
}
