//! One endpoint: method, path, handler and its description. The router and `/openapi.json` are made from the same list.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::Method;

use super::call::Call;
use super::names::NDJSON;
use super::parameter::Parameter;
use super::problem::Outcome;

/// The call is in a box: it goes from hand to hand, and every hand would make room for all of it.
type Handler = Arc<dyn Fn(Box<Call>) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

/// What an endpoint answers when all is well.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// What it says.
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
    /// What else there is to know.
    pub description: &'static str,
    /// Which group it belongs to.
    pub tag: &'static str,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Name of the schema of its request body, or of each of its lines.
    pub body: Option<&'static str>,
    /// Media type of its request body.
    pub body_media_type: &'static str,
    /// What it answers.
    pub answers: Vec<Answer>,
    /// Kinds of its errors, beside those that every endpoint has.
    pub problems: Vec<&'static str>,
    /// True if its body may come for any time: it bounds the waits for each part itself.
    pub is_streaming: bool,
    /// True if it answers even when too many requests are worked on.
    pub is_operational: bool,
    /// What it does.
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
            method,
            path,
            summary,
            description: "",
            tag: "",
            parameters,
            body: None,
            body_media_type: "application/json",
            answers: Vec::new(),
            problems: Vec::new(),
            is_streaming: false,
            is_operational: false,
            handler: Arc::new(move |call| Box::pin(handler(call))),
        }
    }

    /// The same in a group.
    #[must_use]
    pub fn tag(mut self, tag: &'static str) -> Endpoint {
        self.tag = tag;
        self
    }

    /// The same with a longer description.
    #[must_use]
    pub fn describe(mut self, description: &'static str) -> Endpoint {
        self.description = description;
        self
    }

    /// The same with parameters more.
    #[must_use]
    pub fn takes(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Endpoint {
        self.parameters.extend(parameters);
        self
    }

    /// The same with a JSON request body.
    #[must_use]
    pub fn body(mut self, schema: &'static str) -> Endpoint {
        self.body = Some(schema);
        self.fails(&["unsupported-media-type", "too-large", "slow-request"])
    }

    /// The same with a request body in lines of JSON.
    #[must_use]
    pub fn takes_lines(self, schema: &'static str) -> Endpoint {
        Endpoint { body_media_type: NDJSON, ..self.body(schema) }
    }

    /// The same, bounded in time by the progress of its body only.
    #[must_use]
    pub fn streaming(self) -> Endpoint {
        Endpoint { is_streaming: true, ..self }
    }

    /// The same with an answer in JSON.
    #[must_use]
    pub fn answers(self, status: u16, description: &'static str, schema: &'static str) -> Endpoint {
        self.answers_as(status, description, "application/json", schema)
    }

    /// The same with an answer in another media type.
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

    /// The same, answering also in lines of JSON, as many as there are, if the client accepts them.
    #[must_use]
    pub fn answers_lines(self, schema: &'static str) -> Endpoint {
        self.answers_as(200, "", NDJSON, schema)
    }

    /// The same with kinds of errors more.
    #[must_use]
    pub fn fails(mut self, kinds: &[&'static str]) -> Endpoint {
        self.problems.extend(kinds);
        self
    }

    /// The same, failing as everything does that is to become durable.
    #[must_use]
    pub fn commits(self) -> Endpoint {
        self.fails(&["read-only", "conflict", "busy", "unavailable", "no-room", "io", "refused"])
    }

    /// The same, working also when the server is at its limits.
    #[must_use]
    pub fn operational(mut self) -> Endpoint {
        self.is_operational = true;
        self.tag("operation")
    }
}
