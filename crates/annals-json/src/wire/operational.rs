//! The operational view and its leases.

use annals_json_form::form;
use serde_json::{Map, Number, Value as Json, json};

use super::{Listed, Operation};

named_forms![OperationalItem, Lease, LeaseList, NewLease, LeaseTime, LeaseChanges];

/// A TreeItem with origins. The top item has an `@origin`, and a lower item if its origin differs from that of the item
/// above: `running`, `lease:NAME` or `provider:NAME`. `@origins` names the origins of properties that differ from that
/// of their item.
#[form]
#[schemars(example = json!({
    "@origin": "running", "@origins": { "celsius": "lease:driver" }, "hostname": "r1", "celsius": 40,
    "sensors": { "@origin": "lease:driver", "fan": "ok" },
}))]
pub struct OperationalItem(pub Map<String, Json>);

/// A lease: the state that a client pushes stays while the client renews the lease.
#[form]
#[schemars(example = lease_example())]
pub struct Lease {
    pub name: String,
    /// Time until it ends unless it is renewed.
    #[schemars(range(min = 0))]
    pub seconds: Number,
}

/// All leases.
#[form]
#[schemars(example = json!({ "items": [lease_example()] }))]
pub struct LeaseList(pub Listed<Lease>);

/// A new lease.
#[form]
#[schemars(example = lease_example())]
pub struct NewLease {
    pub name: String,
    /// Time until it ends unless it is renewed.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub seconds: Number,
}

/// Time until the lease ends, from now.
#[form]
#[schemars(example = json!({ "seconds": 30.0 }))]
pub struct LeaseTime {
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub seconds: Number,
}

/// Changes that a client pushes.
#[form]
#[schemars(example = json!({
    "operations": [{ "action": "merge-tree", "path": "/sensors", "item": { "fan": "ok" } }],
}))]
pub struct LeaseChanges {
    pub operations: Vec<Operation>,
}

fn lease_example() -> Json {
    json!({ "name": "driver", "seconds": 30.0 })
}
