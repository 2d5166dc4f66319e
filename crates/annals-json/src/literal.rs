//! Literals as JSON: a text, and its language or datatype.

use annals::{Literal, Meaning, Result, Value};
use serde_json::Value as Json;

use super::form::{Form, JsonText};
use super::{Object, invalid, only, text};

/// The member with the text.
pub(crate) const LITERAL: &str = "$literal";
const LANGUAGE: &str = "language";
const DATATYPE: &str = "datatype";

impl Form for Literal {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            members.add(LITERAL, self.text());
            match self.meaning() {
                Meaning::Language(language) => members.add(LANGUAGE, &**language),
                Meaning::Datatype(datatype) => members.add(DATATYPE, &**datatype),
            };
        });
    }
}

/// Errors: `InvalidArgument` for unknown members, for both or neither of a language and a datatype, and for those that
/// [`Literal`] refuses.
pub(crate) fn literal_from_json(object: &Object) -> Result<Value> {
    only(object, LITERAL, &[LITERAL, LANGUAGE, DATATYPE])?;
    let of = text(object, LITERAL, LITERAL)?;
    let found = match (object.get(LANGUAGE), object.get(DATATYPE)) {
        (Some(_), None) => return Ok(Literal::in_language(of, text(object, LITERAL, LANGUAGE)?)?.into()),
        (None, Some(_)) => return Ok(Literal::with_datatype(of, text(object, LITERAL, DATATYPE)?)?.into()),
        (Some(Json::Null), Some(_)) | (Some(_), Some(Json::Null)) => "null",
        (Some(_), Some(_)) => "both",
        (None, None) => "neither",
    };
    Err(invalid(format!(
        "{LITERAL}: expected either {LANGUAGE:?}, a tag such as fr, or {DATATYPE:?}, an IRI, found {found}; leave one \
         out, or write a string if it has neither"
    )))
}
