//! The conditions `If-Match` and `If-None-Match` of a request (RFC 9110, section 13), at all doors.

use annals::{Error, ErrorKind, InstanceId, LogTag, Snapshot};
use http::HeaderMap;
use http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};

use super::call::Call;
use super::etag::Tag;
use crate::protocol::problem::Problem;

/// A condition of a request on the tag of what it addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `*`: any tag.
    Any,
    /// One of these tags, as they were sent.
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
        let conditions = Conditions::of_any(&call.headers);
        for (name, condition) in [(IF_MATCH, &conditions.matches), (IF_NONE_MATCH, &conditions.differs)] {
            let Some(Condition::OneOf(tags)) = condition else { continue };
            if let Some(found) = tags.iter().find(|tag| !is_tag(tag)) {
                let text = format!(
                    "header {name}: expected * or tags in quotes like \"17.1@3f2a9c01\", found {found:?}"
                );
                return Err(Problem::invalid(text));
            }
        }
        Ok(conditions)
    }

    /// The conditions in the headers. Text that is no tag is a condition too: it names no tag of this server.
    pub fn of_any(headers: &HeaderMap) -> Conditions {
        Conditions { matches: condition(headers, IF_MATCH), differs: condition(headers, IF_NONE_MATCH) }
    }

    /// True if the request has no condition.
    pub fn are_empty(&self) -> bool {
        self.matches.is_none() && self.differs.is_none()
    }

    /// True if no condition names a tag: there is none, or only `*`.
    pub fn name_no_tag(&self) -> bool {
        let mut both = self.matches.iter().chain(&self.differs);
        both.all(|condition| matches!(condition, Condition::Any))
    }

    /// True if the client already has the representation with this tag.
    pub fn is_known(&self, tag: &Tag) -> bool {
        self.differs.as_ref().is_some_and(|condition| condition.holds_tag(Some(tag.text()), true))
    }

    /// Checks the conditions of a write against the tag of its instance; `None` if there is no such instance.
    ///
    /// Errors: `precondition-failed`.
    pub fn check(&self, tag: Option<&Tag>) -> Result<(), Problem> {
        let text = tag.map(Tag::text);
        let found = || text.map_or("it does not exist".into(), |found| self.told(found));
        self.check_by(|condition, weakly| condition.holds_tag(text, weakly), found).map_err(|error| match tag
        {
            Some(tag) => error.with("latestVersion", tag.latest_version()).with("tag", tag.text()).into(),
            None => error.into(),
        })
    }

    /// The tag of the present state, for the text of a refusal; and if a tag of `If-Match` is of another log, that too.
    pub fn told(&self, own: &str) -> String {
        let given = match &self.matches {
            Some(Condition::OneOf(tags)) => &tags[..],
            _ => &[],
        };
        let log = LogTag::named_in(own);
        let why_not = |tag: &String| {
            let why = log?.why_not(LogTag::named_in(tag)?)?;
            is_tag(tag).then(|| format!("its tag is {own}, and {tag} {why}"))
        };
        given.iter().find_map(why_not).unwrap_or_else(|| format!("its tag is {own}"))
    }

    /// The same for something that is there and has no tag: only `*` names it.
    pub fn check_untagged(&self) -> Result<(), Problem> {
        let holds = |condition: &Condition, _| condition.names(|_| false);
        Ok(self.check_by(holds, || "it has no tag".to_owned())?)
    }

    /// As [`Conditions::check`]; looks the instance up in the snapshot.
    pub fn check_in(&self, snapshot: &Snapshot, instance: &InstanceId) -> Result<(), Problem> {
        if self.are_empty() { Ok(()) } else { self.check(Tag::find(snapshot, instance)?.as_ref()) }
    }

    /// Checks the conditions of a write. `holds` tells whether a condition names the present state, compared weakly or
    /// not, and `found` what that is.
    ///
    /// Errors: `precondition-failed`.
    pub fn check_by(
        &self,
        holds: impl Fn(&Condition, bool) -> bool,
        found: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        let fails = self.matches.as_ref().is_some_and(|condition| !holds(condition, false))
            || self.differs.as_ref().is_some_and(|condition| holds(condition, true));
        if !fails {
            return Ok(());
        }
        let text = format!("{}; read it again and decide again", found());
        Err(Error::new(ErrorKind::PreconditionFailed, text))
    }
}

impl Condition {
    /// True if the condition names this tag, which is in quotes; `None` if there is nothing that has a tag.
    pub fn holds_tag(&self, tag: Option<&str>, weakly: bool) -> bool {
        tag.is_some_and(|own| self.names(|tag| tag == own || (weakly && tag.strip_prefix("W/") == Some(own))))
    }

    /// True if it is `*`, or one of its tags is this one.
    pub fn names(&self, is_same: impl Fn(&str) -> bool) -> bool {
        match self {
            Condition::Any => true,
            Condition::OneOf(tags) => tags.iter().any(|tag| is_same(tag)),
        }
    }
}

fn condition(headers: &HeaderMap, name: HeaderName) -> Option<Condition> {
    let mut tags = Vec::new();
    for value in headers.get_all(name) {
        tags.extend(String::from_utf8_lossy(value.as_bytes()).split(',').map(|tag| tag.trim().to_owned()));
    }
    match &tags[..] {
        [] => None,
        tags if tags.iter().any(|tag| tag == "*") => Some(Condition::Any),
        _ => Some(Condition::OneOf(tags)),
    }
}

/// A tag has quotes around visible characters of ASCII.
fn is_tag(tag: &str) -> bool {
    let quoted = tag.strip_prefix("W/").unwrap_or(tag);
    quoted.len() >= 2 && quoted.starts_with('"') && quoted.ends_with('"') && quoted.is_ascii()
}
