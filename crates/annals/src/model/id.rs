//! Ids of entities and relationships: a UUID, or any text of at most 255 bytes.

use std::fmt;
use std::sync::Arc;

use crate::{Error, ErrorKind, Result};

/// Longest text id, in bytes.
pub const ID_BYTES_MAX: usize = 255;

/// Names one entity, or one relationship. Entities and relationships have separate id spaces.
///
/// A text that is a UUID in its canonical form (36 characters, lower case) is stored as a UUID, so
/// `Id::from("0190…")` and the UUID itself are the same id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(IdForm);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum IdForm {
    Uuid([u8; 16]),
    Text(Arc<str>),
}

impl Id {
    /// A fresh UUID version 7: unique, and ordered by the time it was made.
    pub fn random() -> Id {
        Id(IdForm::Uuid(uuid::Uuid::now_v7().into_bytes()))
    }

    /// The id with these sixteen bytes.
    pub fn from_uuid_bytes(bytes: [u8; 16]) -> Id {
        Id(IdForm::Uuid(bytes))
    }

    /// The id written as `text`.
    ///
    /// Errors: `InvalidArgument` if it is empty, longer than [`ID_BYTES_MAX`] bytes or has control characters.
    pub fn new(text: &str) -> Result<Id> {
        if text.is_empty() || text.len() > ID_BYTES_MAX {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("id: expected 1 to {ID_BYTES_MAX} bytes, found {}", text.len()),
            ));
        }
        if text.chars().any(char::is_control) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("id {text:?}: expected no control characters; remove them"),
            ));
        }
        if let Some(bytes) = canonical_uuid(text) {
            return Ok(Id(IdForm::Uuid(bytes)));
        }
        Ok(Id(IdForm::Text(text.into())))
    }

    /// The sixteen bytes if this id is a UUID.
    pub fn uuid_bytes(&self) -> Option<&[u8; 16]> {
        match &self.0 {
            IdForm::Uuid(bytes) => Some(bytes),
            IdForm::Text(_) => None,
        }
    }

    /// The text if this id is not a UUID.
    pub fn text(&self) -> Option<&str> {
        match &self.0 {
            IdForm::Uuid(_) => None,
            IdForm::Text(text) => Some(text),
        }
    }
}

fn canonical_uuid(text: &str) -> Option<[u8; 16]> {
    let is_canonical = text.len() == 36 && !text.bytes().any(|byte| byte.is_ascii_uppercase());
    if !is_canonical {
        return None;
    }
    uuid::Uuid::try_parse(text).ok().map(uuid::Uuid::into_bytes)
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            IdForm::Uuid(bytes) => uuid::Uuid::from_bytes(*bytes).hyphenated().fmt(f),
            IdForm::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::str::FromStr for Id {
    type Err = Error;
    fn from_str(text: &str) -> Result<Id> {
        Id::new(text)
    }
}

impl From<uuid::Uuid> for Id {
    fn from(uuid: uuid::Uuid) -> Id {
        Id(IdForm::Uuid(uuid.into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canonical_uuid_text_is_the_uuid() {
        let id = Id::random();
        assert_eq!(Id::new(&id.to_string()).unwrap(), id);
        assert!(Id::new("6BA7B810-9DAD-11D1-80B4-00C04FD430C8").unwrap().text().is_some());
    }

    #[test]
    fn empty_long_and_control_ids_are_refused() {
        for bad in ["", &"x".repeat(256), "a\nb"] {
            assert_eq!(Id::new(bad).unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
        assert!(Id::new(&"x".repeat(255)).is_ok());
    }
}
