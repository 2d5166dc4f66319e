//! `annals classify` and `annals declassify`: add a classification to an entity, change it, remove it.

use annals::{Error, ErrorKind, Id, Result};
use annals_json::{Object, json_from_str};
use clap::Args;
use serde_json::{Value as Json, json};

use super::apply::commit;
use crate::context::{Access, Context, SignatureArguments};
use crate::stop::Outcome;

/// Add a classification to an entity, or replace the one it has
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals classify package:bash essential since=1996 -m 'login needs a shell'
  annals classify package:bash essential --update since=1995 by=null     change some of its properties
  annals declassify package:bash essential
A value is JSON if it reads as JSON, otherwise the text itself: level=2 is a number, level='\"2\"' a text,
since='{\"$date\": \"1996-06-17\"}' a date. With --update, null removes a property.")]
pub struct Classify {
    /// Id of the entity
    id: Id,
    /// Name of the classification
    name: String,
    /// Properties of the classification
    #[arg(value_name = "PROPERTY=VALUE")]
    properties: Vec<String>,
    /// Change the classification that the entity has; properties that you do not name stay
    #[arg(long = "update")]
    is_update: bool,
    #[command(flatten)]
    signature: SignatureArguments,
}

/// Remove a classification from an entity
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  annals declassify package:bash essential -m 'there is dash'")]
pub struct Declassify {
    /// Id of the entity
    id: Id,
    /// Name of the classification
    name: String,
    #[command(flatten)]
    signature: SignatureArguments,
}

impl Classify {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let properties = properties(&self.properties)?;
        let (id, name) = (self.id.to_string(), &self.name);
        let operation = match self.is_update {
            false => {
                json!({"action": "classify", "id": id, "classification": name, "properties": properties})
            }
            true => json!({"action": "reclassify", "id": id, "classification": name, "patch": properties}),
        };
        commit(context, Access::Write, &[operation], &self.signature)
    }
}

impl Declassify {
    /// Commits it.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let operation =
            json!({"action": "declassify", "id": self.id.to_string(), "classification": self.name});
        commit(context, Access::Write, &[operation], &self.signature)
    }
}

/// Properties from texts like `since=1996`.
///
/// Errors: `InvalidArgument` for a text without a name and `=`, and for a property that is given twice.
pub fn properties(texts: &[String]) -> Result<Object> {
    let mut properties = Object::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            let text = format!("{text:?}: expected PROPERTY=VALUE, as in since=1996");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        };
        let value = json_from_str(value).unwrap_or_else(|_| Json::from(value));
        if properties.insert(name.to_owned(), value).is_some() {
            let text = format!("{name}: expected one value, found two");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
    }
    Ok(properties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json_or_texts() {
        let texts = ["a=1", "b=x=y", "c=\"1\"", "d=null", "e="].map(str::to_owned);
        let expected = json!({"a": 1, "b": "x=y", "c": "1", "d": null, "e": ""});
        assert_eq!(Json::from(properties(&texts).unwrap()), expected);
        for bad in [vec!["a"], vec!["=1"], vec!["a=1", "a=2"]] {
            let bad: Vec<String> = bad.into_iter().map(str::to_owned).collect();
            assert_eq!(properties(&bad).unwrap_err().kind(), ErrorKind::InvalidArgument, "{bad:?}");
        }
    }
}
