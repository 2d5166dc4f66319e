//! Declared attributes: the properties that instances of a type have, and their values.

use std::sync::Arc;

use super::{Deprecation, Value, ValueType};

/// Declares a property of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeDefinition {
    /// Name of the property.
    pub name: Arc<str>,
    /// Type of its value, or of each of its values.
    pub value_type: ValueType,
    /// True if the property holds a set of values.
    pub is_many: bool,
    /// True if every instance must have it.
    pub is_required: bool,
    /// True if no two live instances of the declaring type and its subtypes may have the same value.
    pub is_unique: bool,
    /// False to leave it out of the property index.
    pub is_indexed: bool,
    /// The value of a new instance without one.
    pub default: Option<Value>,
    /// The enum type whose element names are its values (of value type string).
    pub enum_type: Option<Arc<str>>,
    /// The type of the items of a list, or of the values of a map; `None` means any.
    pub item_type: Option<ValueType>,
    /// Marks it as deprecated. Existing values stay.
    pub deprecation: Option<Deprecation>,
    /// True if its value is part of the name that an instance has in its parent. The key attributes form the name in
    /// the order of their declaration.
    pub is_key: bool,
    /// The least allowed value.
    pub minimum: Option<Value>,
    /// The greatest allowed value.
    pub maximum: Option<Value>,
    /// A regular expression that each string must match as a whole.
    pub pattern: Option<Arc<str>>,
    /// A path to a property, such as `/interfaces/interface/name` or `../../interface/name`. At the end of each
    /// transaction each value must equal the value of this property in an item at the path. The path has names only: of
    /// children, and of lists, which stand for all their items. It starts with `/` for the outermost container of the
    /// referring item, or with `..`, the first of which is that item.
    pub reference: Option<Arc<str>>,
}

impl AttributeDefinition {
    /// An optional attribute whose values are the names of the elements of an enum type.
    pub fn of_enum(name: &str, enum_type: &str) -> AttributeDefinition {
        AttributeDefinition {
            enum_type: Some(enum_type.into()),
            ..AttributeDefinition::new(name, ValueType::String)
        }
    }

    /// An optional, single-valued, indexed attribute.
    pub fn new(name: &str, value_type: ValueType) -> AttributeDefinition {
        AttributeDefinition {
            name: name.into(),
            value_type,
            is_many: false,
            is_required: false,
            is_unique: false,
            is_indexed: true,
            default: None,
            enum_type: None,
            item_type: None,
            deprecation: None,
            is_key: false,
            minimum: None,
            maximum: None,
            pattern: None,
            reference: None,
        }
    }

    /// The same (a list or a map) with items of this type.
    #[must_use]
    pub fn items(mut self, item_type: ValueType) -> AttributeDefinition {
        self.item_type = Some(item_type);
        self
    }

    /// The same, deprecated.
    #[must_use]
    pub fn deprecated(mut self, replaced_by: Option<&str>) -> AttributeDefinition {
        self.deprecation = Some(Deprecation { replaced_by: replaced_by.map(Into::into) });
        self
    }

    /// The same, holding a set of values.
    #[must_use]
    pub fn many(mut self) -> AttributeDefinition {
        self.is_many = true;
        self
    }

    /// The same, required.
    #[must_use]
    pub fn required(mut self) -> AttributeDefinition {
        self.is_required = true;
        self
    }

    /// The same, unique.
    #[must_use]
    pub fn unique(mut self) -> AttributeDefinition {
        self.is_unique = true;
        self
    }

    /// The same, left out of the property index.
    #[must_use]
    pub fn unindexed(mut self) -> AttributeDefinition {
        self.is_indexed = false;
        self
    }

    /// The same, with a default for new instances.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> AttributeDefinition {
        self.default = Some(value.into());
        self
    }

    /// The same, required, and part of the name that an instance has in its parent.
    #[must_use]
    pub fn key(mut self) -> AttributeDefinition {
        self.is_key = true;
        self.required()
    }

    /// The same, with values from `minimum` to `maximum`.
    #[must_use]
    pub fn within(mut self, minimum: impl Into<Value>, maximum: impl Into<Value>) -> AttributeDefinition {
        self.minimum = Some(minimum.into());
        self.maximum = Some(maximum.into());
        self
    }

    /// The same, with strings that match a regular expression as a whole.
    #[must_use]
    pub fn matching(mut self, pattern: &str) -> AttributeDefinition {
        self.pattern = Some(pattern.into());
        self
    }

    /// The same, with values of the property at this path.
    #[must_use]
    pub fn referring_to(mut self, path: &str) -> AttributeDefinition {
        self.reference = Some(path.into());
        self
    }
}
