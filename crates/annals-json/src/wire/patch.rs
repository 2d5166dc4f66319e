//! Patches of properties.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{ByName, NamedForm, True, Value};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![Patch, MergePatch, SetStep, AddStep, RemoveStep, UnsetStep, ClearStep]
}

/// Either new values by name, null to remove one (as JSON Merge Patch); or steps in order. An object under
/// `properties`, the form of instances, is refused.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(example = merge_example(), transform = super::one_of)]
pub enum Patch {
    Merge(MergePatch),
    Steps(Vec<Step>),
}

/// New values by name; null removes one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = merge_example())]
pub struct MergePatch(pub ByName<Option<Value>>);

// One step of a patch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = super::one_of)]
pub enum Step {
    Set(SetStep),
    Add(AddStep),
    Remove(RemoveStep),
    Unset(UnsetStep),
    Clear(ClearStep),
}

/// Sets a property.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "set": "size", "value": 8 }))]
pub struct SetStep {
    pub set: String,
    pub value: Value,
}

/// Adds a value to a multi-valued property.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "add": "tags", "value": "shell" }))]
pub struct AddStep {
    pub add: String,
    pub value: Value,
}

/// Removes a value from a multi-valued property.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "remove": "tags", "value": "shell" }))]
pub struct RemoveStep {
    pub remove: String,
    pub value: Value,
}

/// Removes a property.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "unset": "homepage" }))]
pub struct UnsetStep {
    pub unset: String,
}

/// Removes all properties.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "clear": true }))]
pub struct ClearStep {
    pub clear: True,
}

fn merge_example() -> Json {
    json!({ "size": 8, "homepage": null })
}
