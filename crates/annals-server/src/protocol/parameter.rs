//! A parameter of an endpoint, for the check of requests and for the description.

use serde_json::Value as Json;

/// The place of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In a header.
    Header,
}

/// A parameter. The server refuses query parameters that an endpoint does not list.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its place.
    pub place: Place,
    /// Its JSON schema.
    pub schema: Json,
    /// Its description.
    pub description: &'static str,
    /// An example.
    pub example: Json,
    /// True if a request may repeat it.
    pub is_many: bool,
    /// True if it is required.
    pub is_required: bool,
}

impl Parameter {
    /// The same with a description.
    pub fn says(self, description: &'static str) -> Parameter {
        Parameter { description, ..self }
    }

    /// The same; a request may repeat it.
    pub fn many(self) -> Parameter {
        Parameter { is_many: true, ..self }
    }
}
