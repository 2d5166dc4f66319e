//! Errors as problem documents (RFC 9457): one kind, one status, one remedy.

use std::borrow::Cow;
use std::time::Duration;

use annals::{Error, ErrorKind};
use axum::body::Body;
use axum::response::IntoResponse;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde_json::{Map, Value as Json, json};

use super::masking::masked;
use super::names::WRITER;

/// The media type of every error.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Kinds of errors that only HTTP has, with status and title.
pub const DOOR_KINDS: [(&str, StatusCode, &str); 21] = [
    ("opening", StatusCode::SERVICE_UNAVAILABLE, "the repository is still being opened"),
    ("stopping", StatusCode::SERVICE_UNAVAILABLE, "the server is stopping"),
    ("writes-refused", StatusCode::SERVICE_UNAVAILABLE, "the repository refuses writes"),
    ("wrong-clock", StatusCode::SERVICE_UNAVAILABLE, "the clock of the server is wrong"),
    ("not-visible", StatusCode::SERVICE_UNAVAILABLE, "the position waited for is not visible yet"),
    ("time-out", StatusCode::GATEWAY_TIMEOUT, "the request took too long"),
    ("partly-written", StatusCode::GATEWAY_TIMEOUT, "a part of the request was written, and stays"),
    ("slow-request", StatusCode::REQUEST_TIMEOUT, "the request came in too slowly"),
    ("method-not-allowed", StatusCode::METHOD_NOT_ALLOWED, "the path does not know this method"),
    ("unsupported-media-type", StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body has an unexpected media type"),
    ("range-not-satisfiable", StatusCode::RANGE_NOT_SATISFIABLE, "the content has no such part"),
    ("not-acceptable", StatusCode::NOT_ACCEPTABLE, "no media type that the client accepts"),
    ("precondition-required", StatusCode::PRECONDITION_REQUIRED, "the write must state a condition"),
    ("constraint-violated", StatusCode::CONFLICT, "the server does not take this statement"),
    ("source-unavailable", StatusCode::BAD_GATEWAY, "an external content cannot be read"),
    ("unknown-host", StatusCode::MISDIRECTED_REQUEST, "the server is not known by this name"),
    ("cross-origin", StatusCode::FORBIDDEN, "a web page of another origin must not do this"),
    ("unauthenticated", StatusCode::UNAUTHORIZED, "the server does not know the client"),
    ("forbidden", StatusCode::FORBIDDEN, "the client may not do this"),
    ("too-many-requests", StatusCode::TOO_MANY_REQUESTS, "the client asks for more than its share"),
    ("internal", StatusCode::INTERNAL_SERVER_ERROR, "the server made a mistake"),
];

/// The result of a handler.
pub type Outcome = Result<Response<Body>, Problem>;

/// A kind of error by its name: its name, status, title, and whether a repetition can succeed by itself.
pub fn kind_named(name: &str) -> Option<(&'static str, StatusCode, &'static str, bool)> {
    let of_engine = ErrorKind::ALL.into_iter().find(|kind| kind.name() == name);
    let of_engine = of_engine.map(|kind| (kind.name(), status_of(kind), title_of(kind), kind.is_retryable()));
    let of_door = || DOOR_KINDS.into_iter().find(|(door, ..)| *door == name);
    of_engine.or_else(|| of_door().map(|(name, status, title)| (name, status, title, is_passing(name))))
}

/// True for a kind of the door that passes by itself.
fn is_passing(kind: &str) -> bool {
    matches!(kind, "opening" | "not-visible" | "too-many-requests")
}

/// True for a status that says that the client may not do this.
pub fn is_refusal(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// The status of each kind of the engine. `docs/errors.md` has the same table.
pub fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::InvalidArgument
        | ErrorKind::InvalidExpression
        | ErrorKind::InvalidPage
        | ErrorKind::FutureInstant => StatusCode::BAD_REQUEST,
        ErrorKind::ReadOnly | ErrorKind::NotHome => StatusCode::FORBIDDEN,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Conflict
        | ErrorKind::AlreadyExists
        | ErrorKind::NotDeleted
        | ErrorKind::MissingEnd
        | ErrorKind::NotUnique
        | ErrorKind::Cardinality
        | ErrorKind::WrongType
        | ErrorKind::ProxyOnly
        | ErrorKind::HomeConflict
        | ErrorKind::DigestMismatch => StatusCode::CONFLICT,
        ErrorKind::Deleted => StatusCode::GONE,
        ErrorKind::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::Cancelled | ErrorKind::OutcomeUnknown => StatusCode::GATEWAY_TIMEOUT,
        ErrorKind::TypeViolation
        | ErrorKind::InvalidProperty
        | ErrorKind::InvalidClassification
        | ErrorKind::InvalidEnds
        | ErrorKind::StatusNotAllowed
        | ErrorKind::Refused => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::NoRoom => StatusCode::INSUFFICIENT_STORAGE,
        ErrorKind::Busy
        | ErrorKind::Unavailable
        | ErrorKind::NotWriter
        | ErrorKind::Locked
        | ErrorKind::Closed
        | ErrorKind::Io => StatusCode::SERVICE_UNAVAILABLE,
        // Corrupted, Gap, NewerFormat: a client cannot do anything about them.
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn title_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Conflict => "another transaction was first",
        ErrorKind::Busy => "too much at once",
        ErrorKind::Unavailable => "the log does not answer; nothing was written",
        ErrorKind::OutcomeUnknown => "the log did not answer; whether it was written is unknown",
        ErrorKind::Locked => "another process writes to the repository",
        ErrorKind::ReadOnly => "writes are refused",
        ErrorKind::NotWriter => "another server writes",
        ErrorKind::Closed => "the repository is closed",
        ErrorKind::Corrupted => "stored bytes are damaged",
        ErrorKind::WrongType => "the instance is of another type",
        ErrorKind::ProxyOnly => "only a proxy of it is here",
        ErrorKind::NotHome => "only its home writes it",
        ErrorKind::HomeConflict => "it belongs to another home",
        ErrorKind::InvalidClassification => "the classification does not fit",
        ErrorKind::InvalidEnds => "the relationship cannot lead there",
        ErrorKind::StatusNotAllowed => "the type does not have this status",
        ErrorKind::Refused => "a rule of the application refused it",
        ErrorKind::Gap => "the log misses a position",
        ErrorKind::NewerFormat => "stored bytes are of a newer version",
        ErrorKind::NotFound => "there is no such thing",
        ErrorKind::AlreadyExists => "it is already there",
        ErrorKind::Deleted => "the instance is deleted",
        ErrorKind::NotDeleted => "the instance is not deleted",
        ErrorKind::PreconditionFailed => "the version is another one than asked for",
        ErrorKind::InvalidArgument => "the request is malformed",
        ErrorKind::InvalidExpression => "the search does not read",
        ErrorKind::InvalidPage => "there is no such page",
        ErrorKind::TypeViolation => "the declaration of a type is not possible",
        ErrorKind::InvalidProperty => "a property does not fit the declared type",
        ErrorKind::MissingEnd => "an end of the relationship does not exist",
        ErrorKind::NotUnique => "the value of a unique attribute is taken",
        ErrorKind::Cardinality => "one relationship more than the type allows",
        ErrorKind::FutureInstant => "an instant of the future",
        ErrorKind::DigestMismatch => "the bytes have another digest than stated",
        ErrorKind::TooLarge => "a bound was exceeded",
        ErrorKind::Cancelled => "the read was called off",
        ErrorKind::NoRoom => "there is no room; nothing was written",
        _ => "the operating system refused",
    }
}

/// The reason of a refusal; an extension of its answer.
#[derive(Clone, Debug)]
pub struct Reason {
    /// The kind of the problem.
    pub kind: &'static str,
    /// Its text.
    pub detail: String,
}

/// An error on its way to the client.
#[derive(Debug)]
pub struct Problem {
    kind: &'static str,
    status: StatusCode,
    title: &'static str,
    detail: String,
    members: Map<String, Json>,
    headers: Vec<(HeaderName, HeaderValue)>,
    is_raced: bool,
    /// The number of the change of a transaction that was refused.
    change: Option<u32>,
}

impl Problem {
    /// A problem of one of the [`DOOR_KINDS`].
    pub fn door(kind: &str, detail: impl Into<String>) -> Problem {
        let known = DOOR_KINDS.into_iter().find(|(name, _, _)| *name == kind);
        let (kind, status, title) = known.expect("door kinds are named in one table");
        let (detail, members, headers) = (detail.into(), Map::new(), Vec::new());
        let problem =
            Problem { kind, status, title, detail, members, headers, is_raced: false, change: None };
        if is_passing(kind) { problem.header(RETRY_AFTER, HeaderValue::from_static("1")) } else { problem }
    }

    /// The request is malformed.
    pub fn invalid(detail: impl Into<String>) -> Problem {
        Error::new(ErrorKind::InvalidArgument, detail).into()
    }

    /// The request caused a panic of the server.
    pub fn panicked() -> Problem {
        Problem::door("internal", "the request made the server panic; please report it")
    }

    /// The addressed thing does not exist.
    pub fn not_found(detail: impl Into<String>) -> Problem {
        Error::new(ErrorKind::NotFound, detail).into()
    }

    /// The request exceeds a bound of the server.
    pub fn too_large(detail: impl Into<String>) -> Problem {
        Error::new(ErrorKind::TooLarge, detail).into()
    }

    /// The server has too much to do.
    pub fn busy(detail: impl Into<String>) -> Problem {
        Error::new(ErrorKind::Busy, detail).into()
    }

    /// No answer within the longest time of a request.
    pub fn too_late(request_time: Duration) -> Problem {
        let seconds = request_time.as_secs_f32();
        let text =
            format!("no answer within {seconds} s; ask for less. A write may still be done: look first");
        Problem::door("time-out", text)
    }

    /// The same problem of a request of which a part was written before: 503 would say that nothing was, so that proxies
    /// could send it again. The member `reason` is its kind.
    #[must_use]
    pub fn after_a_part(self) -> Problem {
        if self.status != StatusCode::SERVICE_UNAVAILABLE {
            return self;
        }
        let partly = Problem::door("partly-written", self.detail).with("reason", self.kind);
        Problem { members: self.members.into_iter().chain(partly.members).collect(), ..partly }
    }

    /// As [`Error::is_raced`].
    pub fn is_raced(&self) -> bool {
        self.is_raced
    }

    /// Its kind, as in `docs/errors.md`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The same kind with another text, and without facts.
    #[must_use]
    pub fn retold(self, detail: &str) -> Problem {
        Problem { detail: detail.to_owned(), members: Map::new(), change: None, ..self }
    }

    /// The same problem of a request with operations: the member `operation` instead of the number of a change.
    #[must_use]
    pub fn of_change(mut self, operation_of: impl Fn(usize) -> Option<usize>) -> Problem {
        if let Some(operation) = self.change.take().and_then(|change| operation_of(change as usize)) {
            self.members.insert("operation".to_owned(), operation.into());
        }
        self
    }

    /// Names the expected, the found and the remedy.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Adds a fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Json>) -> Problem {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a response header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Problem {
        self.headers.push((name, value));
        self
    }

    /// The document.
    pub fn to_json(&self) -> Json {
        let mut json = json!({
            "type": format!("/errors/{}", self.kind),
            "title": self.title,
            "status": self.status.as_u16(),
            "detail": self.detail,
            "kind": self.kind,
        });
        for (name, value) in &self.members {
            // A fact never hides a member that the format defines.
            if json.get(name).is_none() {
                json[name] = value.clone();
            }
        }
        // It may repeat what a client sent.
        let text = json.to_string();
        match masked(&text) {
            Cow::Owned(masked) => serde_json::from_str(&masked).unwrap_or(Json::Null),
            Cow::Borrowed(_) => json,
        }
    }
}

impl IntoResponse for Problem {
    /// The document as an answer.
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        response.headers_mut().extend(self.headers);
        if is_refusal(self.status) {
            response.extensions_mut().insert(Reason { kind: self.kind, detail: self.detail });
        }
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let writer = error.context().iter().find(|(name, _)| *name == "writer").map(|(_, address)| address);
        let kind = match error.kind() {
            // Another server of the same log takes the write.
            ErrorKind::ReadOnly if writer.is_some() => ErrorKind::NotWriter,
            kind => kind,
        };
        if error.is_opening() {
            let numbers =
                error.context().iter().filter_map(|(name, value)| Some((*name, value.parse::<u64>().ok()?)));
            let opening = Problem::door("opening", error.text());
            return numbers.fold(opening, |problem, (name, number)| problem.with(name, number));
        }
        let mut members = Map::new();
        let mut change = None;
        for (name, value) in error.context() {
            if *name == "change" {
                change = value.parse().ok();
                continue;
            }
            if *name == "writer" && value.is_empty() {
                continue;
            }
            let is_number = matches!(*name, "latestVersion" | "operation");
            let number = value.parse::<u64>().ok().filter(|_| is_number);
            let value = || number.map_or_else(|| value.as_str().into(), Json::from);
            members.entry((*name).to_owned()).or_insert_with(value);
        }
        let cause = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
        let valid_at = error.context().iter().find(|(name, _)| *name == "validAt");
        let hint =
            valid_at.map(|(_, instant)| format!("; try validAt={instant} or later")).unwrap_or_default();
        let problem = Problem {
            kind: kind.name(),
            status: status_of(kind),
            title: title_of(kind),
            detail: format!("{}{cause}{hint}", error.text()),
            members,
            headers: Vec::new(),
            is_raced: error.is_raced(),
            change,
        };
        let writer = writer.filter(|address| !address.is_empty());
        match (kind, writer.and_then(|address| HeaderValue::from_str(address).ok())) {
            (ErrorKind::Busy, _) => problem.header(RETRY_AFTER, HeaderValue::from_static("1")),
            (ErrorKind::NotWriter, Some(address)) => problem.header(WRITER.clone(), address),
            _ => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_at_a_server_that_only_reads_a_shared_log_are_sent_to_the_writer() {
        let problem = |error: Error| {
            let problem = Problem::from(error);
            let header =
                problem.headers.iter().find(|(name, _)| *name == WRITER).map(|(_, value)| value.clone());
            (problem.kind, problem.status.as_u16(), header)
        };
        let read_only = Error::new(ErrorKind::ReadOnly, "x");
        assert_eq!(problem(read_only.duplicate()), ("read-only", 403, None));
        assert_eq!(problem(read_only.duplicate().with("writer", "")), ("not-writer", 503, None));
        let named = Some(HeaderValue::from_static("https://one"));
        assert_eq!(problem(read_only.with("writer", "https://one")), ("not-writer", 503, named));
    }

    #[test]
    fn a_part_that_was_written_is_never_503() {
        let stopping = Problem::door("stopping", "x").with("records", 3).after_a_part();
        let json = stopping.to_json();
        assert_eq!((&json["status"], &json["kind"]), (&json!(504), &json!("partly-written")));
        assert_eq!((&json["reason"], &json["records"]), (&json!("stopping"), &json!(3)));
        assert_eq!(Problem::invalid("x").after_a_part().status(), StatusCode::BAD_REQUEST);
    }

    #[test]
    fn the_errors_page_gives_the_same_statuses() {
        let page = include_str!("../../../../docs/errors.md");
        for kind in ErrorKind::ALL {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", kind.name())));
            let row = row.unwrap_or_else(|| panic!("docs/errors.md has no row for {}", kind.name()));
            let status = format!("| {} |", status_of(kind).as_u16());
            assert!(row.contains(&status), "{}: expected {status} in {row}", kind.name());
        }
    }

    #[test]
    fn every_kind_has_a_status_and_a_title() {
        for kind in ErrorKind::ALL {
            let problem = Problem::from(Error::new(kind, "x").with("path", "p").with("status", "hidden"));
            let json = problem.to_json();
            assert_eq!(json["type"], format!("/errors/{}", kind.name()));
            assert_eq!(json["status"], status_of(kind).as_u16());
            // The type is an address that is answered.
            assert_eq!(
                kind_named(kind.name()).map(|(name, status, ..)| (name, status)),
                Some((kind.name(), status_of(kind)))
            );
            assert_eq!(json["path"], "p");
            let is_ours = matches!(kind, ErrorKind::Corrupted | ErrorKind::Gap | ErrorKind::NewerFormat);
            assert_eq!(status_of(kind) == StatusCode::INTERNAL_SERVER_ERROR, is_ours, "{}", kind.name());
            assert_eq!(title_of(kind) == "the operating system refused", kind == ErrorKind::Io);
        }
    }
}
