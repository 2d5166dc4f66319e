//! Texts and numbers of many forms. All are inline: the document repeats them.

use annals_json_form::form;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, json_schema};
use serde::{Deserialize, Serialize};

// An instant.
#[form(inline)]
#[schemars(extend("format" = "date-time"))]
pub struct Instant(pub String);

// A duration, such as PT10M.
#[form(inline)]
#[schemars(extend("format" = "duration"))]
pub struct Duration(pub String);

// The two kinds of instances.
#[form(inline)]
pub enum InstanceKind {
    Entity,
    Relationship,
}

// The kinds of types.
#[form(inline)]
#[schemars(extend("enum" = annals::TypeKind::ALL.map(annals::TypeKind::name)))]
pub struct TypeKindName(pub String);

// The types of values.
#[form(inline)]
#[schemars(extend("enum" = annals::ValueType::ALL.map(annals::ValueType::name)))]
pub struct ValueTypeName(pub String);

// The direction of a relationship on a walk.
#[form(inline)]
pub enum Direction {
    Out,
    In,
}

// The place of an item in a list that users order.
#[form(inline)]
pub enum InsertPlace {
    First,
    Last,
    Before,
    After,
}

// Always true: the member determines the kind of the object.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "bool", into = "bool")]
#[schemars(inline, transform = constant_true)]
pub struct True;

impl From<True> for bool {
    fn from(_: True) -> bool {
        true
    }
}

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(found: bool) -> Result<True, &'static str> {
        found.then_some(True).ok_or("expected true, found false")
    }
}

fn constant_true(schema: &mut Schema) {
    *schema = json_schema!({ "const": true });
}

/// A type whose only value is one text.
macro_rules! word {
    ($name:ident, $text:literal) => {
        #[$crate::wire::form(inline)]
        #[schemars(transform = $crate::wire::constant)]
        pub enum $name {
            #[serde(rename = $text)]
            Only,
        }
    };
}

/// An enum of one word is a constant.
pub fn constant(schema: &mut Schema) {
    let only = schema.get("enum").and_then(|words| words.get(0)).cloned();
    *schema = json_schema!({ "const": only });
}

// One, or a list of them.
// Order: a struct of serde also reads a list, as its members in their order.
#[form(inline)]
#[schemars(transform = super::one_of)]
pub enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

// The values before and after.
#[form(inline)]
pub struct Sides<T> {
    pub before: T,
    pub after: T,
}

/// A required member that may be null.
pub type OrNull<T> = Option<T>;

/// Members under any names.
pub type ByName<T> = BTreeMap<String, T>;
