//! An instance that actions change step by step, when history is read, and when an anchor is made.

use std::sync::Arc;

use crate::Result;
use crate::model::{ClassificationContent, ClassificationCopy, Patch, Provenance, Value};

/// Properties and classifications of an instance that are changed step by step. The changes were checked before.
pub(crate) trait Draft {
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

    /// Changes some properties of a classification and, if given, its provenance.
    fn reclassify(
        &mut self,
        name: &Arc<str>,
        patch: &Patch,
        provenance: Option<&Arc<Provenance>>,
    ) -> Result<()>;

    /// Removes a classification.
    fn declassify(&mut self, name: &Arc<str>) -> Result<()>;

    /// Stores a copy of a classification of another collection.
    fn save(&mut self, copy: &ClassificationCopy) -> Result<()>;
}
