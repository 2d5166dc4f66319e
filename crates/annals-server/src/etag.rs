//! Versions as entity tags, and the conditions `If-Match` and `If-None-Match` (RFC 9110, section 13).

use annals::{Error, ErrorKind, InstanceId, Snapshot};
use http::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};

use super::call::Call;
use super::problem::Problem;

/// The entity tag of a version.
pub fn tag_of(latest_version: u32) -> HeaderValue {
    HeaderValue::try_from(format!("\"{latest_version}\"")).expect("digits are valid in a header")
}

/// A condition of a request on the latest version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `*`: any version.
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

    /// True if the client already has this version.
    pub fn is_known(&self, latest_version: u32) -> bool {
        self.differs.as_ref().is_some_and(|condition| condition.holds(Some(latest_version), true))
    }

    /// True if the request has no condition.
    pub fn is_empty(&self) -> bool {
        self.matches.is_none() && self.differs.is_none()
    }

    /// Checks the conditions of a write against the latest version; `None` if there is no such instance.
    ///
    /// Errors: `precondition-failed`.
    pub fn check(&self, latest_version: Option<u32>) -> Result<(), Problem> {
        let fails = self.matches.as_ref().is_some_and(|condition| !condition.holds(latest_version, false))
            || self.differs.as_ref().is_some_and(|condition| condition.holds(latest_version, true));
        if !fails {
            return Ok(());
        }
        let found = latest_version
            .map_or("it does not exist".into(), |found| format!("the latest version is {found}"));
        let text = format!("{found}; read it again and decide again");
        let error = Error::new(ErrorKind::PreconditionFailed, text);
        Err(match latest_version {
            Some(version) => error.with("latestVersion", version).into(),
            None => error.into(),
        })
    }

    /// As [`Conditions::check`]; looks the version up in the snapshot.
    pub fn check_in(&self, snapshot: &Snapshot, instance: &InstanceId) -> Result<(), Problem> {
        if self.is_empty() { Ok(()) } else { self.check(latest_version(snapshot, instance)?) }
    }
}

impl Condition {
    fn holds(&self, latest_version: Option<u32>, weakly: bool) -> bool {
        self.holds_tag(latest_version.map(|version| format!("\"{version}\"")).as_deref(), weakly)
    }

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

/// The latest version of an instance, also if it is deleted; `None` if the instance does not exist.
fn latest_version(snapshot: &Snapshot, instance: &InstanceId) -> Result<Option<u32>, Problem> {
    let live = match instance {
        InstanceId::Entity(id) => snapshot.entity(id)?.map(|found| found.latest_version()),
        InstanceId::Relationship(id) => snapshot.relationship(id)?.map(|found| found.latest_version()),
    };
    if live.is_some() {
        return Ok(live);
    }
    match snapshot.versions(instance, 0, 1) {
        Ok(versions) => Ok(versions.first().map(|last| last.version)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn condition(call: &Call, name: HeaderName) -> Result<Option<Condition>, Problem> {
    let mut tags = Vec::new();
    for value in call.headers.get_all(&name) {
        let invalid = || {
            Problem::invalid(format!(
                "header {name}: expected * or tags in quotes like \"3\", found {value:?}"
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
