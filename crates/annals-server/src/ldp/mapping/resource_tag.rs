//! Entity tags of resources, and the conditions of requests on them.

use annals::{Direction, Entity, Snapshot};
use http::HeaderMap;

use super::prefer::Selection;
use super::resource_graph;
use super::shown;
use super::view::View;
use super::vocabulary::MEMBERSHIP_RESOURCE;
use crate::bounds::Bounds;
use crate::bounds::heavy::heavy_read;
use crate::content::validators;
use crate::ldp::binary::bytes::content_of;
use crate::protocol::problem::Problem;
use crate::request::conditions::{Condition, Conditions};

/// Most containers with members of a resource whose children an estimate counts one by one.
const CONTAINERS_MAX: usize = 64;
/// A resource that shows more is worked on by the threads for long work. Units: triples.
pub const TRIPLES_MANY: usize = 5_000;
/// Components of a tag that name the state of a resource; a further one is about inbound references.
const STATE_COMPONENTS: usize = 3;

/// The tag of the root of a repository in which it is not stored. It names no log, because this state has no position.
pub const UNSTORED_ROOT: &str = "W/\"0.0.0\"";

/// The tag of a resource: the position of its first record, its version, the log of both, and a digest of everything else
/// that its statements come from: links, parts, children, and the containers that make members of it.
///
/// The tag is weak, because one resource has representations in several formats.
///
/// Units: it reads what it stands for, so it takes as long as a read of the resource.
pub fn tag_of(view: View<'_>, entity: &Entity<'_>) -> annals::Result<String> {
    let (birth, version, log) = (entity.birth(), entity.version(), view.snapshot.log_tag());
    Ok(format!("W/\"{birth}.{version}{log}.{}\"", shown::digest(view, entity)?))
}

/// The tag, with what else an answer shows that the tag does not cover.
pub fn tag_with_inbound(view: View<'_>, entity: &Entity<'_>) -> annals::Result<String> {
    let inbound = shown::inbound_digest(view, entity)?;
    Ok(format!("{}.{inbound}\"", tag_of(view, entity)?.trim_end_matches('"')))
}

/// The tag of what a selection shows. If that is much, a thread for long work computes it.
pub async fn tag_of_selection(
    bounds: &Bounds,
    view: View<'_>,
    entity: &Entity<'_>,
    selection: &Selection,
    size: usize,
) -> Result<String, Problem> {
    let has_inbound = selection.has_inbound;
    let of = move |view: View<'_>, entity: &Entity<'_>| match has_inbound {
        true => tag_with_inbound(view, entity),
        false => tag_of(view, entity),
    };
    if size < TRIPLES_MANY {
        return Ok(of(view, entity)?);
    }
    let (base, id) = (view.base.clone(), entity.id().clone());
    let work = move |snapshot: Snapshot| {
        let entity = snapshot.entity(&id)?;
        let entity = entity.ok_or_else(|| Problem::not_found("the resource is not there any more"))?;
        Ok(of(View { snapshot: &snapshot, base: &base }, &entity)?)
    };
    Box::pin(heavy_read(bounds, view.snapshot.clone(), work)).await
}

/// The tag of a binary: the digest of its bytes.
pub fn binary_tag(entity: &Entity<'_>) -> Option<String> {
    content_of(entity).and_then(|content| validators::tag_of(&content).to_str().ok().map(str::to_owned))
}

/// The tag of any resource: that of its bytes if the repository has them, and else that of its statements.
pub fn state_tag(view: View<'_>, entity: &Entity<'_>) -> annals::Result<String> {
    binary_tag(entity).map_or_else(|| tag_of(view, entity), Ok)
}

/// The conditions of a request on a resource.
#[derive(Clone, Debug, Default)]
pub struct ResourceConditions {
    conditions: Conditions,
    /// True if a write of a resource that is there must have a condition.
    is_required: bool,
}

impl ResourceConditions {
    /// The conditions in the headers.
    pub fn of(headers: &HeaderMap) -> ResourceConditions {
        ResourceConditions { conditions: Conditions::of_any(headers), is_required: false }
    }

    /// The conditions of a PUT: the server may require one.
    pub fn of_put(headers: &HeaderMap, is_required: bool) -> ResourceConditions {
        ResourceConditions { is_required, ..ResourceConditions::of(headers) }
    }

    /// True if a check needs no tag.
    pub fn are_empty(&self) -> bool {
        self.conditions.are_empty() && !self.is_required
    }

    /// True if the client has the representation with this tag.
    pub fn is_known(&self, tag: &str) -> bool {
        let differs = self.conditions.differs.as_ref();
        differs.is_some_and(|condition| condition.names(|known| plain(known) == plain(tag)))
    }

    /// Checks the conditions of a write on a resource that is there. `tag` gives its tag; it is only asked if there is a
    /// condition.
    ///
    /// Errors: as [`ResourceConditions::check`].
    pub fn check_with(&self, tag: impl FnOnce() -> annals::Result<String>) -> Result<(), Problem> {
        if self.are_empty() { Ok(()) } else { self.check(Some(&tag()?)) }
    }

    /// Checks the conditions of a write on the tag of a resource; `None` if there is none.
    ///
    /// `If-Match` compares weakly: the tag names the state of the resource, whatever the format of the answer was.
    ///
    /// Errors: `precondition-failed`; `precondition-required`.
    pub fn check(&self, tag: Option<&str>) -> Result<(), Problem> {
        if let Some(tag) = tag
            && self.is_required
            && self.conditions.are_empty()
        {
            let text =
                format!("the resource is there already: expected If-Match, for instance {tag}, found none");
            return Err(Problem::door("precondition-required", text));
        }
        let holds = |condition: &Condition, _| {
            tag.is_some_and(|tag| condition.names(|known| state(known).eq(state(tag))))
        };
        let found = || tag.map_or("there is no such resource".to_owned(), |tag| self.conditions.told(tag));
        Ok(self.conditions.check_by(holds, found)?)
    }
}

/// The components of a tag that name the state of the resource: a write does not depend on inbound references.
fn state(tag: &str) -> impl Iterator<Item = &str> {
    plain(tag).split('.').take(STATE_COMPONENTS)
}

/// A tag without quotes, and without what the gzip layer of a proxy may have added.
fn plain(tag: &str) -> &str {
    let tag = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
    tag.split('-').next().unwrap_or(tag)
}

/// About how much an answer shows. Units: triples.
pub fn size(view: View<'_>, entity: &Entity<'_>, selection: &Selection) -> annals::Result<usize> {
    let mut count = view.snapshot.degree(entity.id(), Direction::Out, None)?;
    if selection.has_inbound {
        count += view.snapshot.degree(entity.id(), Direction::In, None)?;
    }
    if selection.has_membership {
        let containers = entity.neighbors(Direction::In, Some(MEMBERSHIP_RESOURCE)).entities();
        for (index, container) in containers.enumerate() {
            count += 1;
            if index < CONTAINERS_MAX {
                count += view.snapshot.degree(container?.id(), Direction::Out, None)?;
            } else if count >= TRIPLES_MANY {
                break;
            }
        }
    }
    Ok(count + resource_graph::values_count(entity))
}

#[cfg(test)]
mod tests {
    use http::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};

    use super::*;

    fn conditions(name: HeaderName, value: &'static str) -> ResourceConditions {
        ResourceConditions::of(&HeaderMap::from_iter([(name, HeaderValue::from_static(value))]))
    }

    #[test]
    fn a_tag_is_known_with_all_its_components_and_without_what_a_proxy_adds() {
        let known = |value| conditions(IF_NONE_MATCH, value);
        assert!(known("W/\"7.1.a.b\"").is_known("W/\"7.1.a.b\""));
        assert!(known("\"x\", \"7.1.a.b-gzip\"").is_known("W/\"7.1.a.b\""));
        assert!(known("*").is_known("W/\"7.1.a.b\""));
        for other in ["W/\"7.1.a\"", "W/\"7.1.a.c\"", "W/\"8.1.a.b\"", "W/\"7.2.a.b\""] {
            assert!(!known(other).is_known("W/\"7.1.a.b\""), "{other}");
        }
    }

    #[test]
    fn a_write_depends_on_the_state_and_not_on_inbound_references() {
        let matches = |value| conditions(IF_MATCH, value).check(Some("W/\"7.1.a\"")).is_ok();
        assert!(matches("W/\"7.1.a.b\"") && matches("\"7.1.a-gzip\"") && matches("*"));
        assert!(!matches("W/\"7.1.b\"") && !matches("W/\"7.1\"") && !matches("W/\"6.1.a\""));
        assert!(conditions(IF_MATCH, "*").check(None).is_err());
    }
}
