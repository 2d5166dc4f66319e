//! Entity tags of resources, and the conditions of requests on them.

use annals::{Direction, Entity, Error, ErrorKind};
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};

use super::bytes::content_of;
use super::graph;
use super::prefer::Selection;
use super::types::CONTAINS;
use super::view::View;
use super::vocabulary::MEMBERSHIP_RESOURCE;
use crate::call::Call;
use crate::content::conditions;
use crate::problem::Problem;

/// Most containers whose children a tag counts one by one.
const CONTAINERS_MAX: usize = 64;

/// The tag of a resource: its version, the number of its children, and the same of each container that makes members of
/// it. Adding a child changes the number; any other change of children gives the container a new version.
///
/// The tag is weak, because one resource has representations in several formats.
pub fn tag_of(view: View<'_>, entity: &Entity<'_>) -> annals::Result<String> {
    let children =
        |entity: &Entity<'_>| match view.snapshot.degree(entity.id(), Direction::Out, Some(CONTAINS)) {
            Ok(count) => Ok(count),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        };
    let mut tag = format!("{}.{}", entity.version(), children(entity)?);
    for container in
        entity.neighbors(Direction::In, Some(MEMBERSHIP_RESOURCE)).entities().take(CONTAINERS_MAX)
    {
        let container = container?;
        if container.id() != entity.id() {
            tag.push_str(&format!(".{}.{}", container.version(), children(&container)?));
        }
    }
    Ok(format!("W/\"{tag}\""))
}

/// The tag, with what else an answer shows that the tag does not cover.
pub fn tag_with_inbound(view: View<'_>, entity: &Entity<'_>) -> annals::Result<String> {
    let inbound = view.snapshot.degree(entity.id(), Direction::In, None)?;
    Ok(format!("{}-{inbound}\"", tag_of(view, entity)?.trim_end_matches('"')))
}

/// The tag of a binary: the digest of its bytes.
pub fn binary_tag(entity: &Entity<'_>) -> Option<String> {
    content_of(entity).and_then(|content| conditions::tag_of(&content).to_str().ok().map(str::to_owned))
}

/// The tag of any resource: that of its bytes if the repository has them, and else that of its statements.
pub fn state_tag(view: View<'_>, entity: &Entity<'_>) -> annals::Result<String> {
    binary_tag(entity).map_or_else(|| tag_of(view, entity), Ok)
}

/// The conditions of a request.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    matches: Option<Vec<String>>,
    differs: Option<Vec<String>>,
    /// True if a write of a resource that is there must have a condition.
    is_required: bool,
}

impl Conditions {
    /// The conditions in the headers.
    pub fn of(headers: &HeaderMap) -> Conditions {
        let (matches, differs) = (tags(headers, &IF_MATCH), tags(headers, &IF_NONE_MATCH));
        Conditions { matches, differs, is_required: false }
    }

    /// The conditions of a PUT: the server may require one.
    pub fn of_put(call: &Call) -> Conditions {
        let is_required = call.door.ldp.as_ref().is_some_and(|ldp| ldp.is_if_match_required);
        Conditions { is_required, ..Conditions::of(&call.headers) }
    }

    /// True if the client has the representation with this tag.
    pub fn is_known(&self, tag: &str) -> bool {
        self.differs.as_ref().is_some_and(|tags| holds(tags, Some(tag)))
    }

    /// Checks the conditions of a write on the tag of a resource; `None` if there is none.
    ///
    /// `If-Match` compares weakly: the tag names the state of the resource, whatever the format of the answer was.
    ///
    /// Errors: `precondition-failed`; `precondition-required`.
    pub fn check(&self, tag: Option<&str>) -> Result<(), Problem> {
        if let Some(tag) = tag
            && self.is_required
            && self.matches.is_none()
            && self.differs.is_none()
        {
            let text =
                format!("the resource is there already: expected If-Match, for instance {tag}, found none");
            return Err(Problem::door("precondition-required", text));
        }
        let fails = self.matches.as_ref().is_some_and(|tags| !holds(tags, tag))
            || self.differs.as_ref().is_some_and(|tags| holds(tags, tag));
        if !fails {
            return Ok(());
        }
        let found = tag.map_or("there is no such resource".to_owned(), |tag| format!("its tag is {tag}"));
        Err(Error::new(ErrorKind::PreconditionFailed, format!("{found}; read it again and decide again"))
            .into())
    }
}

fn holds(tags: &[String], tag: Option<&str>) -> bool {
    let Some(tag) = tag else { return false };
    tags.iter().any(|known| known == "*" || state(known) == state(tag))
}

/// The part of a tag that names the state of the resource.
fn state(tag: &str) -> &str {
    let tag = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
    // The gzip layer of a proxy may add something of its own.
    tag.split('-').next().unwrap_or(tag)
}

fn tags(headers: &HeaderMap, name: &HeaderName) -> Option<Vec<String>> {
    // A value that is no text is a condition too: it names no tag of this server.
    let values =
        headers.get_all(name).iter().map(|value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()));
    let mut tags: Vec<String> = Vec::new();
    for value in values {
        tags.extend(value.split(',').map(|tag| tag.trim().to_owned()));
    }
    (!tags.is_empty()).then_some(tags)
}

/// About how much an answer shows. Units: triples.
pub fn size(view: View<'_>, entity: &Entity<'_>, selection: &Selection) -> annals::Result<usize> {
    let mut count = view.snapshot.degree(entity.id(), Direction::Out, None)?;
    if selection.has_inbound {
        count += view.snapshot.degree(entity.id(), Direction::In, None)?;
    }
    if selection.has_membership {
        let containers = entity.neighbors(Direction::In, Some(MEMBERSHIP_RESOURCE)).entities();
        for container in containers.take(CONTAINERS_MAX) {
            count += view.snapshot.degree(container?.id(), Direction::Out, None)?;
        }
    }
    Ok(count + graph::values_count(entity))
}
