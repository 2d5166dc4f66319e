//! Why a request has no answer: what that says about its effect, and the errors that follow.

use std::error::Error as _;
use std::io;

use annals::{Error, ErrorKind};
use object_store::Error as Told;

use super::s3_place::S3Place;

/// The answer to a request.
pub(super) type Answered<T> = Result<T, RequestFailure>;

/// Units: bytes of a text of the service that an error repeats.
const TEXT_BYTES_MAX: usize = 300;

/// Why a request has no answer, or another one than wanted.
#[derive(Debug)]
pub(super) enum RequestFailure {
    /// There is no such object.
    Missing,
    /// The condition of the request does not hold: nothing was changed.
    Unmet,
    /// The service refused it: nothing was changed, and another try is refused, too.
    Refused(Error),
    /// The service has no room: nothing was changed.
    Full(Error),
    /// It may have an effect, now or later: there was no answer, or one that says nothing.
    Unanswered(Error),
}

impl RequestFailure {
    /// There was no answer within the deadline.
    pub fn late(place: &S3Place) -> RequestFailure {
        let text = format!("{place}: the service did not answer in time; look at it, and at the network");
        RequestFailure::Unanswered(Error::new(ErrorKind::Unavailable, text))
    }

    pub fn of(place: &S3Place, error: &Told) -> RequestFailure {
        let answer = Answer::of(error);
        let refused =
            |kind, text: String| RequestFailure::Refused(Error::new(kind, format!("{place}: {text}")));
        match (answer.code.as_str(), answer.status) {
            ("NoSuchBucket", _) => refused(
                ErrorKind::NotFound,
                format!("expected the bucket {}, found none; create it, or correct the place", place.bucket),
            ),
            ("RequestTimeTooSkewed", _) => refused(
                ErrorKind::InvalidArgument,
                format!("the service refuses the clock of this machine ({answer}); set the clock"),
            ),
            ("QuotaExceeded" | "XMinioStorageFull" | "InsufficientStorage", _) | (_, 507) => {
                let text = format!("{place}: the service has no room ({answer}); make room there");
                RequestFailure::Full(Error::new(ErrorKind::NoRoom, text))
            }
            _ if matches!(error, Told::NotFound { .. }) => RequestFailure::Missing,
            _ if matches!(
                error,
                Told::Precondition { .. } | Told::AlreadyExists { .. } | Told::NotModified { .. }
            ) =>
            {
                RequestFailure::Unmet
            }
            (_, 401 | 403) => refused(
                ErrorKind::InvalidArgument,
                format!(
                    "the service refuses the key ({answer}); correct the key, or its rights to the bucket"
                ),
            ),
            (_, 301 | 307 | 308) => refused(
                ErrorKind::InvalidArgument,
                format!("the bucket is elsewhere ({answer}); correct region or endpoint"),
            ),
            (_, 400 | 405 | 411 | 413 | 414 | 416 | 501) => {
                refused(ErrorKind::Io, format!("the service refuses a request ({answer})"))
            }
            _ if answer.text.contains("invalid peer certificate") => refused(
                ErrorKind::InvalidArgument,
                format!(
                    "the certificate of the service is not trusted ({answer}); give authorities=PATH with its authority, \
                     and the host as the certificate names it"
                ),
            ),
            _ => {
                let text = format!(
                    "{place}: the service did not answer as expected ({answer}); start it, or correct the place"
                );
                RequestFailure::Unanswered(Error::new(ErrorKind::Unavailable, text))
            }
        }
    }

    /// True if a try may succeed after this one.
    pub fn is_passing(&self) -> bool {
        matches!(self, RequestFailure::Unanswered(_))
    }

    /// The failure of a request for `key`, for callers of the engine.
    pub fn into_error(self, key: &str) -> Error {
        match self {
            RequestFailure::Missing => {
                Error::new(ErrorKind::NotFound, format!("{key}: expected an object, found none"))
            }
            RequestFailure::Unmet => Error::new(
                ErrorKind::Conflict,
                format!("{key}: expected it as it was, found it changed; try again"),
            ),
            RequestFailure::Refused(error)
            | RequestFailure::Full(error)
            | RequestFailure::Unanswered(error) => error,
        }
    }

    /// The same for a store of objects.
    pub fn into_io(self, key: &str) -> io::Error {
        let kind = match &self {
            RequestFailure::Missing => return io::ErrorKind::NotFound.into(),
            RequestFailure::Unmet => {
                let text = format!("{key}: it was removed or replaced while it was read; read it again");
                return io::Error::new(io::ErrorKind::NotFound, text);
            }
            RequestFailure::Refused(error) if error.kind() == ErrorKind::InvalidArgument => {
                io::ErrorKind::PermissionDenied
            }
            RequestFailure::Refused(_) => io::ErrorKind::Other,
            RequestFailure::Full(_) => io::ErrorKind::StorageFull,
            RequestFailure::Unanswered(_) => io::ErrorKind::TimedOut,
        };
        io::Error::new(kind, self.into_error(key))
    }
}

/// The answer of the service, as errors repeat it.
struct Answer {
    /// The status of HTTP; 0 without an answer.
    status: u16,
    /// The code of S3; empty if it named none.
    code: String,
    /// One line.
    text: String,
}

impl Answer {
    /// The driver keeps status and body in texts only.
    fn of(error: &Told) -> Answer {
        let (mut last, mut all) = (error.to_string(), error.to_string());
        let mut source = error.source();
        while let Some(error) = source {
            last = error.to_string();
            all.push(' ');
            all.push_str(&last);
            source = error.source();
        }
        let after = |mark: &str| all.split_once(mark).map(|(_, rest)| rest);
        let status =
            after("status code: ").and_then(|rest| rest.get(..3)).and_then(|digits| digits.parse().ok());
        let tag = |name: &str| {
            let rest = after(&format!("<{name}>"))?;
            rest.split_once(&format!("</{name}>")).map(|(text, _)| one_line(text))
        };
        let code = tag("Code").unwrap_or_default();
        let text = tag("Message").unwrap_or_else(|| one_line(&last));
        let status = status.unwrap_or(match error {
            Told::PermissionDenied { .. } => 403,
            Told::Unauthenticated { .. } => 401,
            _ => 0,
        });
        Answer { status, code, text }
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.status != 0 {
            write!(f, "{} ", self.status)?;
        }
        if !self.code.is_empty() {
            write!(f, "{}: ", self.code)?;
        }
        f.write_str(&self.text)
    }
}

/// Without line breaks, and not longer than an error needs.
fn one_line(text: &str) -> String {
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
        line.truncate(end);
        line.push('…');
    }
    line
}
