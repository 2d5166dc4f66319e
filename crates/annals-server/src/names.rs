//! Names that clients and the door share: headers of requests and answers, and the media type of lines.

use http::HeaderName;

/// Header: who commits.
pub static AUTHOR: HeaderName = HeaderName::from_static("annals-author");
/// Header: why.
pub static MESSAGE: HeaderName = HeaderName::from_static("annals-message");
/// Header of answers: the position they show, or that they made.
pub static POSITION: HeaderName = HeaderName::from_static("annals-position");
/// Header: read only when this position is visible.
pub static WAIT_POSITION: HeaderName = HeaderName::from_static("annals-wait-position");
/// Header: the id of a request, of the client or of the server.
pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The media type of lines of JSON.
pub const NDJSON: &str = "application/x-ndjson";
