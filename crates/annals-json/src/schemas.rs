//! Every JSON form as a schema with an example.

use serde_json::Value as Json;

/// Every schema with its example.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let mut schemas = super::value_schemas::schemas();
    schemas.extend(super::instance_schemas::schemas());
    schemas.extend(super::page_schemas::schemas());
    schemas.extend(super::find_schemas::schemas());
    schemas.extend(super::type_schemas::schemas());
    schemas.extend(super::provenance_schemas::schemas());
    schemas.extend(super::operation_schemas::schemas());
    schemas.extend(super::tree_schemas::schemas());
    schemas.extend(super::candidate_schemas::schemas());
    schemas.extend(super::operational_schemas::schemas());
    schemas.extend(super::logged_schemas::schemas());
    schemas.extend(super::exchange_schemas::schemas());
    schemas.extend(super::feed_schemas::schemas());
    schemas
}
