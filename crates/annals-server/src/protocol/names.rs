//! Names that clients and the door share: headers of requests and answers, and the media type of lines.

use http::HeaderName;

/// Header: the author of a commit.
pub static AUTHOR: HeaderName = HeaderName::from_static("annals-author");
/// Header: the message of a commit.
pub static MESSAGE: HeaderName = HeaderName::from_static("annals-message");
/// Header of answers: the position of the snapshot, or of the new record.
pub static POSITION: HeaderName = HeaderName::from_static("annals-position");
/// Header: read only when this position is visible.
pub static WAIT_POSITION: HeaderName = HeaderName::from_static("annals-wait-position");
/// Header: the key of a request that its client may send again.
pub static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Header of answers: true if a request with this key was committed before.
pub static REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Header of refused writes: the address of the server that writes to the log.
pub static WRITER: HeaderName = HeaderName::from_static("annals-writer");
/// Header: the id of a request, from the client or from the server.
pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The media type of rows.
pub const CSV: &str = "text/csv";
/// The media type of lines of JSON.
pub const NDJSON: &str = "application/x-ndjson";
