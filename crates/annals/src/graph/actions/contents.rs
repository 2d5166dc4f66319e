//! What actions do to the content of an instance, whoever holds it: history that is read, an anchor that is made.

use std::sync::Arc;

use crate::Result;
use crate::model::{ClassificationContent, ClassificationCopy, Patch, Value};

/// Properties and classifications of an instance, to which changes are made one by one. They were checked before.
pub(crate) trait Contents {
    /// Changes some properties.
    fn patch(&mut self, patch: &Patch) -> Result<()>;

    /// Puts other properties in place and, if they are given, other classifications.
    fn replace(
        &mut self,
        properties: &[(Arc<str>, Value)],
        classifications: Option<&[ClassificationContent]>,
    ) -> Result<()>;

    /// Adds a classification.
    fn classify(&mut self, content: &ClassificationContent) -> Result<()>;

    /// Changes some properties of a classification.
    fn reclassify(&mut self, name: &Arc<str>, patch: &Patch) -> Result<()>;

    /// Takes a classification off.
    fn declassify(&mut self, name: &Arc<str>) -> Result<()>;

    /// Keeps a classification of another collection.
    fn save(&mut self, copy: &ClassificationCopy) -> Result<()>;
}
