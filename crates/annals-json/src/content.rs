//! Contents as JSON: the digest of a binary in the store, and what is known about it.

use annals::{Content, Digest, DigestAlgorithm, Result, Sha256, Value};
use serde_json::Value as Json;

use super::form::{Form, JsonText, Text};
use super::{Object, invalid, kind, object, only, optional_text, text};

/// The member with the SHA-256 digest.
pub(crate) const CONTENT: &str = "$content";
const SIZE: &str = "size";
const MEDIA_TYPE: &str = "mediaType";
const NAME: &str = "name";
const DIGESTS: &str = "digests";

impl Form for Content {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            members.add(CONTENT, Text(&self.sha256));
            members.add(SIZE, Number(self.size));
            members.add(MEDIA_TYPE, &*self.media_type);
            if let Some(name) = &self.name {
                members.add(NAME, &**name);
            }
            if !self.digests.is_empty() {
                members.add(DIGESTS, Digests(&self.digests));
            }
        });
    }
}

struct Number(u64);

impl Form for Number {
    fn write(&self, to: &mut JsonText) {
        to.serialized(&self.0);
    }
}

/// Digests by the names of their algorithms.
struct Digests<'d>(&'d [Digest]);

impl Form for Digests<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| {
            self.0.iter().for_each(|digest| {
                members.add(digest.algorithm().name(), Text(digest));
            });
        });
    }
}

/// The media type may be left out, if it is not known.
///
/// Errors: `InvalidArgument` for unknown members, for digests that have another number of hexadecimal digits than their
/// algorithm, and for two digests of one algorithm.
pub(crate) fn content_from_json(members: &Object) -> Result<Value> {
    only(members, CONTENT, &[CONTENT, SIZE, MEDIA_TYPE, NAME, DIGESTS])?;
    let digits = text(members, CONTENT, CONTENT)?;
    let sha256 = Sha256::parse(digits).ok_or_else(|| {
        let (found, count) = (shortened(digits), digits.chars().count());
        invalid(format!(
            "{CONTENT}: expected a SHA-256 digest, 64 hexadecimal digits, found {count} characters: {found:?}"
        ))
    })?;
    let size = members.get(SIZE).unwrap_or(&Json::Null);
    let size = size.as_u64().ok_or_else(|| {
        invalid(format!("{CONTENT}: expected the number of bytes as {SIZE:?}, found {}", found(size)))
    })?;
    let media_type = optional_text(members, CONTENT, MEDIA_TYPE)?.unwrap_or(Content::UNKNOWN).into();
    let name = optional_text(members, CONTENT, NAME)?.map(Box::from);
    let digests = match members.get(DIGESTS) {
        None | Some(Json::Null) => Box::default(),
        Some(digests) => digests_from_json(object(digests, "$content, digests")?)?,
    };
    Ok(Content { sha256, size, media_type, name, digests }.into())
}

fn digests_from_json(members: &Object) -> Result<Box<[Digest]>> {
    let mut digests: Vec<Digest> = Vec::new();
    for (name, digits) in members {
        let algorithm = DigestAlgorithm::named(name).ok_or_else(|| {
            let known = DigestAlgorithm::ALL.map(DigestAlgorithm::name).join(", ");
            invalid(format!("{CONTENT}: unknown digest {:?}; expected one of {known}", shortened(name)))
        })?;
        let digits = digits.as_str().ok_or_else(|| {
            invalid(format!("digest {name}: expected a string of hexadecimal digits, found {}", kind(digits)))
        })?;
        if digests.iter().any(|known| known.algorithm() == algorithm) {
            let text =
                format!("{CONTENT}: expected one digest {}, found two; leave one out", algorithm.name());
            return Err(invalid(text));
        }
        digests.push(Digest::from_hex(algorithm, digits)?);
    }
    digests.sort_unstable_by_key(Digest::algorithm);
    Ok(digests.into())
}

fn found(size: &Json) -> String {
    match size {
        Json::Null => "nothing".to_owned(),
        Json::Number(number) => number.to_string(),
        other => kind(other).to_owned(),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}
