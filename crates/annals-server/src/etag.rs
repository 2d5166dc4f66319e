//! Revisions as entity tags, and the conditions `If-Match` and `If-None-Match` (RFC 9110, section 13).

use std::fmt::Write;

use annals::{Entity, Error, ErrorKind, InstanceId, Relationship, Revision, Snapshot};
use annals_json::Seen;
use http::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};

use super::call::Call;
use super::problem::Problem;

/// The entity tag of an instance: its birth and its latest version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    text: String,
    latest_version: u32,
}

impl Tag {
    /// The tag of an entity.
    pub fn of_entity(entity: &Entity<'_>) -> Tag {
        Tag::of(entity.revision())
    }

    /// The tag of an instance that a snapshot shows.
    pub fn of_seen(seen: &Seen<'_>) -> Result<Tag, Problem> {
        match seen {
            Seen::Entity(entity) => Ok(Tag::of_entity(entity)),
            Seen::Relationship(relationship) => Tag::of_relationship(relationship),
        }
    }

    fn of(revision: Revision) -> Tag {
        Tag { text: format!("\"{revision}\""), latest_version: revision.version }
    }

    // A relationship shows the ids of its ends, and another id of an end makes no version of the relationship.
    fn of_relationship(relationship: &Relationship<'_>) -> Result<Tag, Problem> {
        let revision = relationship.revision();
        let mut text = format!("\"{revision}");
        for end in [relationship.from_entity()?, relationship.to_entity()?].into_iter().flatten() {
            if end.reidentified_from().is_some() {
                write!(text, ".{}", end.latest_version()).expect("memory takes what is written");
            }
        }
        Ok(Tag { text: text + "\"", latest_version: revision.version })
    }

    /// The tag of an instance, also if it is deleted; `None` if the instance does not exist.
    fn find(snapshot: &Snapshot, instance: &InstanceId) -> Result<Option<Tag>, Problem> {
        if let InstanceId::Relationship(id) = instance
            && let Some(relationship) = snapshot.relationship(id)?
        {
            return Tag::of_relationship(&relationship).map(Some);
        }
        Ok(snapshot.revision(instance).map(Tag::of))
    }

    /// As the value of the header `ETag`.
    pub fn to_header(&self) -> HeaderValue {
        HeaderValue::try_from(&self.text).expect("digits and dots are valid in a header")
    }
}

/// A condition of a request on the tag of its instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `*`: any tag.
    Any,
    /// One of these tags.
    OneOf(Vec<String>),
}

/// Both conditions of a request.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// `If-Match`.
    pub matches: Option<Condition>,
    /// `If-None-Match`.
    pub differs: Option<Condition>,
}

impl Conditions {
    /// The conditions of a request. Errors: `invalid-argument` for a malformed list of tags.
    pub fn of(call: &Call) -> Result<Conditions, Problem> {
        Ok(Conditions { matches: condition(call, IF_MATCH)?, differs: condition(call, IF_NONE_MATCH)? })
    }

    /// True if the client already has the representation with this tag.
    pub fn is_known(&self, tag: &Tag) -> bool {
        self.differs.as_ref().is_some_and(|condition| condition.holds_tag(Some(&tag.text), true))
    }

    /// True if the request has no condition.
    pub fn is_empty(&self) -> bool {
        self.matches.is_none() && self.differs.is_none()
    }

    /// Checks the conditions of a write against the tag of its instance; `None` if there is no such instance.
    ///
    /// Errors: `precondition-failed`.
    pub fn check(&self, tag: Option<&Tag>) -> Result<(), Problem> {
        let text = tag.map(|tag| tag.text.as_str());
        let fails = self.matches.as_ref().is_some_and(|condition| !condition.holds_tag(text, false))
            || self.differs.as_ref().is_some_and(|condition| condition.holds_tag(text, true));
        if !fails {
            return Ok(());
        }
        let found = text.map_or("it does not exist".into(), |found| format!("its tag is {found}"));
        let text = format!("{found}; read it again and decide again");
        let error = Error::new(ErrorKind::PreconditionFailed, text);
        Err(match tag {
            Some(tag) => error.with("latestVersion", tag.latest_version).with("tag", &tag.text).into(),
            None => error.into(),
        })
    }

    /// As [`Conditions::check`]; looks the instance up in the snapshot.
    pub fn check_in(&self, snapshot: &Snapshot, instance: &InstanceId) -> Result<(), Problem> {
        if self.is_empty() { Ok(()) } else { self.check(Tag::find(snapshot, instance)?.as_ref()) }
    }
}

impl Condition {
    /// True if the condition names this tag, which is in quotes; `None` if there is nothing that has a tag.
    pub fn holds_tag(&self, tag: Option<&str>, weakly: bool) -> bool {
        let Some(own) = tag else { return false };
        match self {
            Condition::Any => true,
            Condition::OneOf(tags) => {
                tags.iter().any(|tag| tag == own || (weakly && tag.strip_prefix("W/") == Some(own)))
            }
        }
    }
}

fn condition(call: &Call, name: HeaderName) -> Result<Option<Condition>, Problem> {
    let mut tags = Vec::new();
    for value in call.headers.get_all(&name) {
        let invalid = || {
            Problem::invalid(format!(
                "header {name}: expected * or tags in quotes like \"17.1\", found {value:?}"
            ))
        };
        let text = value.to_str().map_err(|_| invalid())?.trim();
        if text == "*" {
            return Ok(Some(Condition::Any));
        }
        for tag in text.split(',').map(str::trim) {
            let quoted = tag.strip_prefix("W/").unwrap_or(tag);
            if quoted.len() < 2 || !quoted.starts_with('"') || !quoted.ends_with('"') {
                return Err(invalid());
            }
            tags.push(tag.to_owned());
        }
    }
    Ok((!tags.is_empty()).then_some(Condition::OneOf(tags)))
}
