//! The validators that conditions of requests for binaries are compared with (RFC 9110, section 13): tags and dates, in their order.

use std::time::SystemTime;

use annals::{Content, Instant};
use http::header::{IF_MODIFIED_SINCE, IF_RANGE, IF_UNMODIFIED_SINCE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::request::conditions::Conditions;

/// The copy that a client may already have: the tag of the bytes, and when they were written.
pub struct Validators {
    /// The strong entity tag.
    pub tag: HeaderValue,
    /// When this version was written, in whole seconds.
    pub modified: SystemTime,
}

/// The entity tag of a content: its SHA-256.
pub fn tag_of(content: &Content) -> HeaderValue {
    HeaderValue::try_from(format!("\"{}\"", content.sha256)).expect("digits are valid in a header")
}

impl Validators {
    /// The validators of a content that was written at this instant.
    pub fn new(content: &Content, written: Instant) -> Validators {
        let seconds = u64::try_from(written.micros() / 1_000_000).unwrap_or_default();
        let modified = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        Validators { tag: tag_of(content), modified }
    }

    fn tag(&self) -> &str {
        self.tag.to_str().unwrap_or_default()
    }

    /// The status that the conditions of a read demand instead of 200: 412 or 304.
    pub fn refusal(&self, conditions: &Conditions, headers: &HeaderMap) -> Option<StatusCode> {
        match &conditions.matches {
            Some(condition) if !condition.holds_tag(Some(self.tag()), false) => {
                return Some(StatusCode::PRECONDITION_FAILED);
            }
            None if date(headers, IF_UNMODIFIED_SINCE).is_some_and(|then| self.modified > then) => {
                return Some(StatusCode::PRECONDITION_FAILED);
            }
            _ => {}
        }
        match &conditions.differs {
            Some(condition) if condition.holds_tag(Some(self.tag()), true) => Some(StatusCode::NOT_MODIFIED),
            None if date(headers, IF_MODIFIED_SINCE).is_some_and(|then| self.modified <= then) => {
                Some(StatusCode::NOT_MODIFIED)
            }
            _ => None,
        }
    }

    /// True if a requested range is of these bytes: `If-Range` is absent, or names them.
    pub fn admits_range(&self, headers: &HeaderMap) -> bool {
        let Some(value) = headers.get(IF_RANGE) else { return true };
        value == self.tag || date(headers, IF_RANGE) == Some(self.modified)
    }
}

/// A date in a header; `None` without one, and for a malformed one, which RFC 9110 tells servers to ignore.
fn date(headers: &HeaderMap, name: HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
}
