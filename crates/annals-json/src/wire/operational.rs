//! The operational view and its leases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value as Json, json};

use super::{Listed, NamedForm, Operation};

/// The forms of this file.
pub fn forms() -> Vec<NamedForm> {
    named_forms![OperationalItem, Lease, LeaseList, NewLease, LeaseTime, LeaseChanges]
}

/// A TreeItem with where it is from. `@origin` is there at the top, and below where it differs from that of the item above: `running`,
/// `lease:NAME` or `provider:NAME`. `@origins` names the properties that are from elsewhere than their item.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = json!({
    "@origin": "running", "@origins": { "celsius": "lease:driver" }, "hostname": "r1", "celsius": 40,
    "sensors": { "@origin": "lease:driver", "fan": "ok" },
}))]
pub struct OperationalItem(pub Map<String, Json>);

/// A lease: what a client pushes stays as long as it is renewed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = lease_example())]
pub struct Lease {
    pub name: String,
    /// How long it lasts unless it is renewed.
    #[schemars(range(min = 0))]
    pub seconds: Number,
    /// True if the log holds what is pushed.
    pub recorded: bool,
}

/// All leases.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(example = json!({ "items": [lease_example()] }))]
pub struct LeaseList(pub Listed<Lease>);

/// A lease that is opened.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = lease_example())]
pub struct NewLease {
    pub name: String,
    /// How long it lasts unless it is renewed.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub seconds: Number,
    /// Whether the log holds what is pushed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<bool>,
}

/// How long a lease lasts from now on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "seconds": 30.0 }))]
pub struct LeaseTime {
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub seconds: Number,
}

/// What a client pushes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "operations": [{ "action": "merge-tree", "path": "/sensors", "item": { "fan": "ok" } }],
}))]
pub struct LeaseChanges {
    pub operations: Vec<Operation>,
}

fn lease_example() -> Json {
    json!({ "name": "driver", "seconds": 30.0, "recorded": false })
}
