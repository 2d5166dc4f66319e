//! Values as the types of a repository declare them, for forms that have fewer kinds of values, such as JSON.

use std::sync::Arc;

use super::Snapshot;
use crate::graph::Graph;
use crate::model::{ClassificationContent, TypeKind, Value};

impl Snapshot {
    /// Reads `properties` of an instance of this type as its attributes declare them, in place: a whole number as a
    /// float or a decimal, a text as a value that has this form, such as a date or a decimal, and a list as a set. The
    /// attribute of a list or a map declares its items in the same way. Other values stay; the commit refuses them.
    ///
    /// ```
    /// # use annals::*;
    /// # fn main() -> Result<()> {
    /// # let repository = Repository::in_memory();
    /// let size = AttributeDefinition::new("size", ValueType::Float);
    /// repository.transact(|t| t.define_type(TypeDefinition::entity("car").attribute(size.clone())))?;
    /// let mut properties = vec![("size".into(), Value::from(2))];
    /// repository.snapshot().read_as_declared(TypeKind::Entity, "car", &mut properties);
    /// assert_eq!(properties[0].1, Value::Float(2.0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_as_declared(&self, kind: TypeKind, type_name: &str, properties: &mut [(Arc<str>, Value)]) {
        self.graph().read_as_declared(kind, type_name, properties);
    }
}

impl Graph {
    /// As [`Snapshot::read_as_declared`].
    pub(crate) fn read_as_declared(
        &self,
        kind: TypeKind,
        type_name: &str,
        properties: &mut [(Arc<str>, Value)],
    ) {
        let properties = properties.iter_mut().map(|(name, value)| (&**name, value));
        self.read_each_as_declared(kind, type_name, properties);
    }

    /// The same for values with names from elsewhere.
    pub(crate) fn read_each_as_declared<'v>(
        &self,
        kind: TypeKind,
        type_name: &str,
        values: impl Iterator<Item = (&'v str, &'v mut Value)>,
    ) {
        let symbol = self.names.find(type_name);
        let Some(known) = symbol.and_then(|symbol| self.types.get(kind, symbol)) else { return };
        for (name, value) in values {
            let attribute = self.names.find(name).and_then(|symbol| known.attributes.get(&symbol));
            if let Some(attribute) = attribute {
                *value = attribute.definition.read(value);
            }
        }
    }

    /// The same for classifications.
    pub(crate) fn read_classifications_as_declared(&self, contents: &mut [ClassificationContent]) {
        for ClassificationContent { name, properties, .. } in contents {
            self.read_as_declared(TypeKind::Classification, name, properties);
        }
    }
}
