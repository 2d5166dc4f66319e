//! Groups of instances, with what is computed of each.

use annals_json_form::form;
use serde_json::json;

use super::{ByName, OrNull, Value};

named_forms![FoundGroups, FoundGroup];

/// Groups of what a search finds.
#[form]
#[schemars(example = json!({
    "groups": [group_example()], "count": 3, "rest": { "groups": 1, "count": 1 },
}))]
pub struct FoundGroups {
    /// The largest groups, largest first.
    pub groups: Vec<FoundGroup>,
    /// Number of instances that the search finds.
    pub count: u64,
    pub rest: RestOfGroups,
}

/// Instances with equal values. The members of its members have the names of fields.
#[form]
#[schemars(example = group_example())]
pub struct FoundGroup {
    /// The values; null for instances without one.
    pub values: ByName<OrNull<Value>>,
    pub count: u64,
    /// The sums that were asked for; null if no instance has the property.
    pub sum: Option<ByName<OrNull<Value>>>,
    pub min: Option<ByName<OrNull<Value>>>,
    pub max: Option<ByName<OrNull<Value>>>,
}

/// A group of entities.
fn group_example() -> serde_json::Value {
    json!({ "values": { "@type": "table", "owner": "sales" }, "count": 2, "sum": { "rows": 7 } })
}

/// The groups that are not listed.
#[form(inline)]
pub struct RestOfGroups {
    /// Number of groups that are not listed.
    pub groups: u64,
    /// Number of entities in these groups.
    pub count: u64,
}
