//! A parameter of an endpoint, as it is checked and described.

use serde_json::Value as Json;

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header.
    Header,
}

/// A parameter. Query parameters that an endpoint does not list are refused.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Where it stands.
    pub place: Place,
    /// Its JSON schema.
    pub schema: Json,
    /// What it is for.
    pub description: &'static str,
    /// An example.
    pub example: Json,
    /// True if it may be given several times.
    pub is_many: bool,
    /// True if it must be given.
    pub is_required: bool,
}
