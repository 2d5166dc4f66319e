//! One error type: the kind, the operation, the facts and the cause.

use std::fmt;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of a failure: it tells the caller how to react. Every kind is one line of `docs/errors.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another transaction changed an instance that this one read or wrote; or another writer appended at the position.
    Conflict,
    /// A bounded queue is full and the caller asked not to wait.
    Busy,
    /// The log did not answer. After a write: nothing was written.
    Unavailable,
    /// The log did not answer while it was written: whether the transaction is durable, or becomes so later, is unknown.
    OutcomeUnknown,
    /// Another process has the repository open for writing.
    Locked,
    /// Writes are refused: the repository was opened read-only.
    ReadOnly,
    /// Another server writes to the log of this one at present.
    NotWriter,
    /// The repository was closed.
    Closed,
    /// Stored bytes are damaged before the tail.
    Corrupted,
    /// The log misses a position.
    Gap,
    /// Stored bytes were written by a newer version of Annals.
    NewerFormat,
    /// No such entity, relationship, classification, type, version or position; or no instance can have the property.
    NotFound,
    /// The id, classification or type exists already.
    AlreadyExists,
    /// The instance is deleted; restore it first.
    Deleted,
    /// The instance is not deleted, which this operation needs.
    NotDeleted,
    /// The version of an instance differs from the one that the transaction expects.
    PreconditionFailed,
    /// An argument is malformed or out of its range.
    InvalidArgument,
    /// A search or a regular expression is malformed, or compares values that cannot be compared.
    InvalidExpression,
    /// A page is out of its range, or continues another search.
    InvalidPage,
    /// A declaration of a type removes something, contradicts itself or other types, or existing instances do not fit
    /// it.
    TypeViolation,
    /// A property does not fit the declared type: not declared, of another value type, or required and missing.
    InvalidProperty,
    /// A relationship end does not exist (or not at that valid time), or no instance has the value that an attribute
    /// refers to.
    MissingEnd,
    /// Another instance has the value of a unique attribute, or the values that are unique together.
    NotUnique,
    /// A relationship would exceed the cardinality of its type, or a required child is missing.
    Cardinality,
    /// The instance, or the named type, is of another type or kind than stated.
    WrongType,
    /// Only a proxy of the entity is known: its id, type and unique properties.
    ProxyOnly,
    /// The instance belongs to another collection, and only its home writes it.
    NotHome,
    /// The repository holds a copy of it from another home, or owns it.
    HomeConflict,
    /// The classification does not fit the type of the entity, or its name differs from a declared one only in upper
    /// and lower case.
    InvalidClassification,
    /// An entity of this type cannot be at that end of the relationship.
    InvalidEnds,
    /// The type does not have this status.
    StatusNotAllowed,
    /// A hook of the application refused the transaction; the text is its reason.
    Refused,
    /// The call names an instant in the future, but only the past is known.
    FutureInstant,
    /// Bytes have another digest than stated.
    DigestMismatch,
    /// A bound was exceeded: record, transaction, value, visited elements.
    TooLarge,
    /// The read was cancelled, or its time was over.
    Cancelled,
    /// The storage or the memory budget has no room; nothing was written.
    NoRoom,
    /// The operating system refused: permission, missing folder, a broken device. After a write: nothing was written.
    Io,
}

impl ErrorKind {
    /// All kinds, in the order of `docs/errors.md`.
    pub const ALL: [ErrorKind; 38] = [
        ErrorKind::Conflict,
        ErrorKind::Busy,
        ErrorKind::Unavailable,
        ErrorKind::OutcomeUnknown,
        ErrorKind::Locked,
        ErrorKind::ReadOnly,
        ErrorKind::NotWriter,
        ErrorKind::Closed,
        ErrorKind::Corrupted,
        ErrorKind::Gap,
        ErrorKind::NewerFormat,
        ErrorKind::NotFound,
        ErrorKind::AlreadyExists,
        ErrorKind::Deleted,
        ErrorKind::NotDeleted,
        ErrorKind::PreconditionFailed,
        ErrorKind::InvalidArgument,
        ErrorKind::InvalidExpression,
        ErrorKind::InvalidPage,
        ErrorKind::TypeViolation,
        ErrorKind::InvalidProperty,
        ErrorKind::MissingEnd,
        ErrorKind::NotUnique,
        ErrorKind::Cardinality,
        ErrorKind::WrongType,
        ErrorKind::ProxyOnly,
        ErrorKind::NotHome,
        ErrorKind::HomeConflict,
        ErrorKind::InvalidClassification,
        ErrorKind::InvalidEnds,
        ErrorKind::StatusNotAllowed,
        ErrorKind::Refused,
        ErrorKind::FutureInstant,
        ErrorKind::DigestMismatch,
        ErrorKind::TooLarge,
        ErrorKind::Cancelled,
        ErrorKind::NoRoom,
        ErrorKind::Io,
    ];

    /// The kind of a failed write that left nothing: `NoRoom` if the disk, the quota or the limit on file sizes is
    /// exhausted, otherwise `Io`.
    pub(crate) fn of_failed_write(error: &std::io::Error) -> ErrorKind {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => ErrorKind::NoRoom,
            _ => ErrorKind::Io,
        }
    }

    /// True if the error means that nothing was written, so that writing may continue: `NoRoom` and `Io`.
    pub(crate) fn leaves_nothing(self) -> bool {
        matches!(self, ErrorKind::NoRoom | ErrorKind::Io)
    }

    /// True if the same call may succeed when it is repeated on a fresh snapshot.
    pub fn is_retryable(self) -> bool {
        matches!(self, ErrorKind::Conflict | ErrorKind::Busy)
    }

    /// The stable lower-case name used by every door, e.g. `"missing-end"`.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Conflict => "conflict",
            ErrorKind::Busy => "busy",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::OutcomeUnknown => "outcome-unknown",
            ErrorKind::Locked => "locked",
            ErrorKind::ReadOnly => "read-only",
            ErrorKind::NotWriter => "not-writer",
            ErrorKind::Closed => "closed",
            ErrorKind::Corrupted => "corrupted",
            ErrorKind::Gap => "gap",
            ErrorKind::NewerFormat => "newer-format",
            ErrorKind::NotFound => "not-found",
            ErrorKind::AlreadyExists => "already-exists",
            ErrorKind::Deleted => "deleted",
            ErrorKind::NotDeleted => "not-deleted",
            ErrorKind::PreconditionFailed => "precondition-failed",
            ErrorKind::InvalidArgument => "invalid-argument",
            ErrorKind::InvalidExpression => "invalid-expression",
            ErrorKind::InvalidPage => "invalid-page",
            ErrorKind::TypeViolation => "type-violation",
            ErrorKind::InvalidProperty => "invalid-property",
            ErrorKind::MissingEnd => "missing-end",
            ErrorKind::NotUnique => "not-unique",
            ErrorKind::Cardinality => "cardinality",
            ErrorKind::WrongType => "wrong-type",
            ErrorKind::ProxyOnly => "proxy-only",
            ErrorKind::NotHome => "not-home",
            ErrorKind::HomeConflict => "home-conflict",
            ErrorKind::InvalidClassification => "invalid-classification",
            ErrorKind::InvalidEnds => "invalid-ends",
            ErrorKind::StatusNotAllowed => "status-not-allowed",
            ErrorKind::Refused => "refused",
            ErrorKind::FutureInstant => "future-instant",
            ErrorKind::DigestMismatch => "digest-mismatch",
            ErrorKind::TooLarge => "too-large",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::NoRoom => "no-room",
            ErrorKind::Io => "io",
        }
    }
}

const REPLAYED: &str = "replayed";

/// An error: kind, text (expected, found, what to do), context pairs and source.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    text: String,
    context: Vec<(&'static str, String)>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    is_raced: bool,
}

impl Error {
    /// An error of `kind` that says in `text` what was expected, what was found and what to do.
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Error {
        Error(Box::new(Inner { kind, text: text.into(), context: Vec::new(), source: None, is_raced: false }))
    }

    /// Adds a fact that only this caller knows: a path, a position, an operation.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Error {
        self.0.context.push((name, value.to_string()));
        self
    }

    /// Names the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        self.0.source = Some(source.into());
        self
    }

    /// Says that the graph which refused a transaction has records that the snapshot of the transaction has not.
    #[must_use]
    pub(crate) fn raced(mut self) -> Error {
        self.0.is_raced = true;
        self
    }

    /// True if a transaction was refused, and another one that its snapshot does not show may be the reason: on a fresh
    /// snapshot it may succeed. False if the same transaction would be refused again.
    pub fn is_raced(&self) -> bool {
        self.0.is_raced
    }

    /// The error of a repository that has no graph before it has read its log: so many records are read, of all.
    pub(crate) fn opening(text: String, replayed: u64, records: u64) -> Error {
        Error::new(ErrorKind::Unavailable, text).with(REPLAYED, replayed).with("records", records)
    }

    /// True if the repository has no graph before it has read its log anew: the same read succeeds later. The context has
    /// the records that are `replayed`, and all `records`.
    pub fn is_opening(&self) -> bool {
        self.kind() == ErrorKind::Unavailable && self.context().iter().any(|(name, _)| *name == REPLAYED)
    }

    /// Wraps an operating-system error met during `operation`.
    pub fn io(operation: impl Into<String>, source: std::io::Error) -> Error {
        Error::new(ErrorKind::Io, operation).caused_by(source)
    }

    /// As [`Error::io`], for an operation that may have written: `NoRoom` if there was no room.
    pub(crate) fn of_disk(operation: impl Into<String>, source: std::io::Error) -> Error {
        Error::new(ErrorKind::of_failed_write(&source), operation).caused_by(source)
    }

    /// The kind: programs decide by it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The text without context and source.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The context pairs, innermost first.
    pub fn context(&self) -> &[(&'static str, String)] {
        &self.0.context
    }

    /// A copy for each thread that waits for one failed batch; the source becomes text.
    #[must_use]
    pub fn duplicate(&self) -> Error {
        let mut copy = Error::new(self.0.kind, self.0.text.clone());
        copy.0.context = self.0.context.clone();
        copy.0.is_raced = self.0.is_raced;
        copy.0.source = self.0.source.as_ref().map(|source| source.to_string().into());
        copy
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)?;
        // The number of a change says nothing to those who did not make it, and a writer may tell no address.
        let is_shown = |(name, value): &&(&str, String)| match *name {
            "change" => false,
            "writer" => !value.is_empty(),
            _ => true,
        };
        for (name, value) in self.0.context.iter().filter(is_shown) {
            write!(f, " ({name}: {value})")?;
        }
        if let Some(source) = &self.0.source {
            write!(f, ": {source}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.0.kind.name())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl PartialEq for Error {
    /// Errors are equal if kind and text are equal.
    fn eq(&self, other: &Error) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_every_kind_once() {
        // Invariant: `ALL` has the order of declaration, so a missing kind would shift the others or be last.
        for (index, kind) in ErrorKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index, "{kind:?}");
        }
        let names: std::collections::BTreeSet<_> = ErrorKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), ErrorKind::ALL.len());
    }

    #[test]
    fn an_error_tells_kind_text_context_and_source() {
        let cause = std::io::Error::other("no space left");
        let error = Error::io("write record", cause).with("path", "seg-1").with("position", 7);
        assert_eq!(error.to_string(), "write record (path: seg-1) (position: 7): no space left");
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(error.duplicate().to_string(), error.to_string());
    }
}
