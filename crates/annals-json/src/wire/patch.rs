//! Patches of properties.

use annals_json_form::form;
use serde_json::{Value as Json, json};

use super::{ByName, True, Value};

named_forms![Patch, MergePatch, SetStep, AddStep, RemoveStep, UnsetStep, ClearStep];

/// Either new values by name, null to remove one (as JSON Merge Patch); or steps in order. An object under
/// `properties`, the form of instances, is refused.
#[form]
#[schemars(example = merge_example(), transform = super::one_of)]
pub enum Patch {
    Merge(MergePatch),
    Steps(Vec<Step>),
}

/// New values by name; null removes one.
#[form]
#[schemars(example = merge_example())]
pub struct MergePatch(pub ByName<Option<Value>>);

// One step of a patch.
#[form(inline)]
#[schemars(transform = super::one_of)]
pub enum Step {
    Set(SetStep),
    Add(AddStep),
    Remove(RemoveStep),
    Unset(UnsetStep),
    Clear(ClearStep),
}

/// Sets a property.
#[form]
#[schemars(example = json!({ "set": "size", "value": 8 }))]
pub struct SetStep {
    pub set: String,
    pub value: Value,
}

/// Adds a value to a multi-valued property.
#[form]
#[schemars(example = json!({ "add": "tags", "value": "shell" }))]
pub struct AddStep {
    pub add: String,
    pub value: Value,
}

/// Removes a value from a multi-valued property.
#[form]
#[schemars(example = json!({ "remove": "tags", "value": "shell" }))]
pub struct RemoveStep {
    pub remove: String,
    pub value: Value,
}

/// Removes a property.
#[form]
#[schemars(example = json!({ "unset": "homepage" }))]
pub struct UnsetStep {
    pub unset: String,
}

/// Removes all properties.
#[form]
#[schemars(example = json!({ "clear": true }))]
pub struct ClearStep {
    pub clear: True,
}

fn merge_example() -> Json {
    json!({ "size": 8, "homepage": null })
}
