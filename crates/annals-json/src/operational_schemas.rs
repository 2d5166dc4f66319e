//! The operational view and its leases as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::schema::{any_object, flag, list, object, partial, reference, text};

/// The schemas of this file.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let mut item = any_object();
    item["description"] = "A TreeItem with where it is from. `@origin` is there at the top, and below where it differs from that of the item above: \
                           `running`, `lease:NAME` or `provider:NAME`. `@origins` names the properties that are from elsewhere than their item."
        .into();
    let item_example = json!({
        "@origin": "running", "@origins": { "celsius": "lease:driver" }, "hostname": "r1", "celsius": 40,
        "sensors": { "@origin": "lease:driver", "fan": "ok" },
    });
    let seconds = json!({ "type": "number", "exclusiveMinimum": 0 });
    let left = json!({ "type": "number", "minimum": 0 });
    let lease = object(json!({ "name": text(), "seconds": left, "recorded": flag() }));
    let lease_example = json!({ "name": "driver", "seconds": 30.0, "recorded": false });
    let new =
        partial(&["name", "seconds"], json!({ "name": text(), "seconds": seconds, "recorded": flag() }));
    let changes_example = json!({
        "operations": [{ "action": "merge-tree", "path": "/sensors", "item": { "fan": "ok" } }],
    });
    vec![
        ("OperationalItem", item, item_example),
        ("Lease", lease, lease_example.clone()),
        (
            "LeaseList",
            object(json!({ "items": list(reference("Lease")) })),
            json!({ "items": [lease_example.clone()] }),
        ),
        ("NewLease", new, lease_example),
        ("LeaseTime", object(json!({ "seconds": seconds })), json!({ "seconds": 30.0 })),
        ("LeaseChanges", object(json!({ "operations": list(reference("Operation")) })), changes_example),
    ]
}
