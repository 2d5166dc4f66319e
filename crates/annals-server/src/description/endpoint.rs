//! One endpoint: method, path, handler and its description. The router and `/openapi.json` are made from the same list.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::Method;

use crate::access::{Needs, of_operation};
use crate::protocol::names::NDJSON;
use crate::protocol::parameter::Parameter;
use crate::protocol::problem::Outcome;
use crate::request::call::Call;

/// Takes the place of a schema's name for a body of any bytes.
pub const BYTES: &str = "";
/// The media type of such bodies in the description; they may have any.
pub const BYTES_MEDIA_TYPE: &str = "application/octet-stream";

/// The call is in a box, because each function that passes it on would otherwise make room for all of it.
type Handler = Arc<dyn Fn(Box<Call>) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

/// A successful answer of an endpoint.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Meaning of the answer.
    pub description: &'static str,
    /// Media type; empty for an answer without body.
    pub media_type: &'static str,
    /// Name of the schema of the body.
    pub schema: &'static str,
}

/// An endpoint.
#[derive(Clone)]
pub struct Endpoint {
    /// HTTP method.
    pub method: Method,
    /// Path with its parameters in braces.
    pub path: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Further description.
    pub description: &'static str,
    /// The group of the endpoint.
    pub tag: &'static str,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Name of the schema of its request body, or of each of its lines.
    pub body: Option<&'static str>,
    /// Media type of its request body.
    pub body_media_type: &'static str,
    /// Another form of its request body. Shape: its media type, and the name of its schema.
    pub other_body: Option<(&'static str, &'static str)>,
    /// Its successful answers.
    pub answers: Vec<Answer>,
    /// Kinds of its errors, in addition to those of every endpoint.
    pub problems: Vec<&'static str>,
    /// True if its body may take any time: the endpoint bounds the wait for each part itself.
    pub is_streaming: bool,
    /// True if it answers even when too many requests are in progress.
    pub is_operational: bool,
    /// The verbs that it needs.
    pub needs: Needs,
    /// The function that answers.
    pub handler: Handler,
}

impl Endpoint {
    /// An endpoint without parameters.
    pub fn new<F, R>(method: Method, path: &'static str, summary: &'static str, handler: F) -> Endpoint
    where
        F: Fn(Box<Call>) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        let parameters = path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .map(super::parameters::path)
            .collect();
        Endpoint {
            needs: of_operation(&method, path),
            method,
            path,
            summary,
            description: "",
            tag: "",
            parameters,
            body: None,
            body_media_type: "application/json",
            other_body: None,
            answers: Vec::new(),
            problems: Vec::new(),
            is_streaming: false,
            is_operational: false,
            handler: Arc::new(move |call| Box::pin(handler(call))),
        }
    }

    /// Sets the group.
    #[must_use]
    pub fn tag(mut self, tag: &'static str) -> Endpoint {
        self.tag = tag;
        self
    }

    /// Sets a longer description.
    #[must_use]
    pub fn describe(mut self, description: &'static str) -> Endpoint {
        self.description = description;
        self
    }

    /// Adds parameters. A page has bounds, so an endpoint with `limit` fails with `invalid-page`.
    #[must_use]
    pub fn takes(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Endpoint {
        let before = self.parameters.len();
        self.parameters.extend(parameters);
        match self.parameters[before..].iter().any(|parameter| parameter.name == "limit") {
            true => self.fails(&["invalid-page"]),
            false => self,
        }
    }

    /// Sets a JSON request body.
    #[must_use]
    pub fn body(mut self, schema: &'static str) -> Endpoint {
        self.body = Some(schema);
        self.fails(&["unsupported-media-type", "too-large", "slow-request"])
    }

    /// Sets a request body in lines of JSON.
    #[must_use]
    pub fn takes_lines(self, schema: &'static str) -> Endpoint {
        Endpoint { body_media_type: NDJSON, ..self.body(schema) }
    }

    /// Sets another form of the request body.
    #[must_use]
    pub fn or_takes(self, media_type: &'static str, schema: &'static str) -> Endpoint {
        Endpoint { other_body: Some((media_type, schema)), ..self }
    }

    /// Sets a request body of any bytes.
    #[must_use]
    pub fn takes_bytes(self) -> Endpoint {
        let endpoint = Endpoint { body: Some(BYTES), body_media_type: BYTES_MEDIA_TYPE, ..self };
        endpoint.fails(&["slow-request"])
    }

    /// Bounds the time of a request only by the progress of its body.
    #[must_use]
    pub fn streaming(self) -> Endpoint {
        Endpoint { is_streaming: true, ..self }
    }

    /// Adds an answer in JSON.
    #[must_use]
    pub fn answers(self, status: u16, description: &'static str, schema: &'static str) -> Endpoint {
        self.answers_as(status, description, "application/json", schema)
    }

    /// Adds an answer in another media type.
    #[must_use]
    pub fn answers_as(
        mut self,
        status: u16,
        description: &'static str,
        media_type: &'static str,
        schema: &'static str,
    ) -> Endpoint {
        self.answers.push(Answer { status, description, media_type, schema });
        self
    }

    /// Adds an answer of any bytes.
    #[must_use]
    pub fn answers_bytes(self, status: u16, description: &'static str) -> Endpoint {
        self.answers_as(status, description, BYTES_MEDIA_TYPE, BYTES)
    }

    /// Adds an answer in lines of JSON, with all items, for clients that accept it.
    #[must_use]
    pub fn answers_lines(self, schema: &'static str) -> Endpoint {
        self.answers_as(200, "", NDJSON, schema)
    }

    /// Adds kinds of errors.
    #[must_use]
    pub fn fails(mut self, kinds: &[&'static str]) -> Endpoint {
        self.problems.extend(kinds);
        self
    }

    /// Adds the errors of changes of any instances.
    #[must_use]
    pub fn changes_instances(self) -> Endpoint {
        self.fails(&[
            "invalid-property",
            "invalid-ends",
            "wrong-type",
            "type-violation",
            "not-unique",
            "cardinality",
            "missing-end",
            "deleted",
        ])
    }

    /// Adds the errors of every commit.
    #[must_use]
    pub fn commits(self) -> Endpoint {
        self.fails(&[
            "read-only",
            "not-writer",
            "conflict",
            "busy",
            "unavailable",
            "outcome-unknown",
            "no-room",
            "io",
            "refused",
        ])
    }

    /// Lets the endpoint work when the server is at its limits.
    #[must_use]
    pub fn operational(mut self) -> Endpoint {
        self.is_operational = true;
        self.tag("operation")
    }
}
