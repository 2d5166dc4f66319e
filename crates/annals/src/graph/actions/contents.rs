//! The effects of actions on the content of an instance, for different holders: reading history, and making an anchor.

use std::sync::Arc;

use crate::Result;
use crate::model::{ClassificationContent, ClassificationCopy, Patch, Value};

/// Properties and classifications of an instance that are changed step by step. The changes were checked before.
pub(crate) trait Contents {
    /// Changes some properties.
    fn patch(&mut self, patch: &Patch) -> Result<()>;

    /// Replaces all properties and, if given, all classifications.
    fn replace(
        &mut self,
        properties: &[(Arc<str>, Value)],
        classifications: Option<&[ClassificationContent]>,
    ) -> Result<()>;

    /// Adds a classification.
    fn classify(&mut self, content: &ClassificationContent) -> Result<()>;

    /// Changes some properties of a classification.
    fn reclassify(&mut self, name: &Arc<str>, patch: &Patch) -> Result<()>;

    /// Removes a classification.
    fn declassify(&mut self, name: &Arc<str>) -> Result<()>;

    /// Stores a copy of a classification of another collection.
    fn save(&mut self, copy: &ClassificationCopy) -> Result<()>;
}
