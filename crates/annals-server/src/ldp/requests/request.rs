//! A request for a resource: its target, and the commit that answers it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use annals::{Receipt, Transaction};
use http::Method;

use super::headers::{DESCRIPTION_SEGMENT, EVENTS_SEGMENT, VERSIONS_SEGMENT};
use crate::ldp::acl::permit::Permit;
use crate::ldp::mapping::base::Base;
use crate::ldp::mapping::constraints::DOCUMENT;
use crate::ldp::mapping::path::{ACL_SEGMENT, Path, RESERVED};
use crate::ldp::mapping::prefer::Selection;
use crate::ldp::mapping::resource_tag::{self, ResourceConditions};
use crate::ldp::mapping::view::{Found, TOMBSTONE_SEGMENT, View};
use crate::ldp::mapping::writer::Writer;
use crate::ldp::memento::second::Second;
use crate::ldp::root::LdpSettings;
use crate::protocol::problem::Problem;
use crate::request::call::{Call, Weight};
use crate::request::commit::{Signature, commit, wait_for_winner};

/// How often a write is tried, if another request was first each time.
const ATTEMPTS_MAX: usize = 5;

/// The target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A resource.
    Resource(Path),
    /// The description of a binary.
    Description(Path),
    /// The remains of a deleted resource.
    Tombstone(Path),
    /// The versions of a resource, or of the description of a binary.
    TimeMap(Original),
    /// One of them.
    Memento(Original, Second),
    /// The notifications about all resources.
    Events,
    /// The document with the constraints.
    Constraints,
    /// The ACL of a resource.
    Acl(Path),
    /// Something else about a resource, by its reserved segment.
    Reserved(String),
}

/// A thing with versions: a resource, or the description of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The path of the resource.
    pub path: Path,
    /// True for its description.
    pub is_description: bool,
}

impl Original {
    fn at(path: Path) -> Option<Original> {
        if !path.is_reserved() {
            return Some(Original { path, is_description: false });
        }
        let binary = path.parent().filter(|parent| !parent.is_reserved())?;
        if path.is_acl() {
            return Some(Original { path, is_description: false });
        }
        (path.name() == DESCRIPTION_SEGMENT).then_some(Original { path: binary, is_description: true })
    }
}

/// A request for a resource.
pub struct Request {
    /// Becomes true when the request is over, so that work for it ends.
    pub is_over: Over,
    /// The settings of the door.
    pub settings: Arc<LdpSettings>,
    /// The request.
    pub call: Box<Call>,
    /// Its method.
    pub method: Method,
    /// The address of the root.
    pub base: Base,
    /// The permit that ACLs must give for it; `None` if the roles of the client give it.
    pub permit: Option<Permit>,
}

/// A flag that becomes true when its request is dropped: after the answer, the time-out, or the end of the client.
#[derive(Default)]
pub struct Over(pub Arc<AtomicBool>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Target {
    /// The resource that it is about; `None` for what is about no single one.
    pub fn resource(&self) -> Option<&Path> {
        match self {
            Target::Resource(path)
            | Target::Description(path)
            | Target::Tombstone(path)
            | Target::Acl(path) => Some(path),
            Target::TimeMap(original) | Target::Memento(original, _) => Some(&original.path),
            Target::Events | Target::Constraints | Target::Reserved(_) => None,
        }
    }

    /// The target of a request with this path below the root, percent-encoded.
    ///
    /// Errors: `invalid-argument` for a path that no resource can have.
    pub fn of(encoded: &str) -> Result<Target, Problem> {
        let path = Path::parse(encoded)?;
        if !path.is_reserved() {
            return Ok(Target::Resource(path));
        }
        let parent = path.parent().unwrap_or_else(Path::root);
        let name = path.name().to_owned();
        if name == VERSIONS_SEGMENT
            && let Some(original) = Original::at(parent.clone())
        {
            return Ok(Target::TimeMap(original));
        }
        if parent.name() == VERSIONS_SEGMENT
            && let Some(second) = Second::parse(&name)
            && let Some(original) = parent.parent().and_then(Original::at)
        {
            return Ok(Target::Memento(original, second));
        }
        if parent.is_reserved() || !name.starts_with(RESERVED) {
            let mut segments = path.text().split('/');
            let first = segments.find(|segment| segment.starts_with(RESERVED)).unwrap_or(&name);
            return Ok(Target::Reserved(first.to_owned()));
        }
        Ok(match &*name {
            TOMBSTONE_SEGMENT => Target::Tombstone(parent),
            DESCRIPTION_SEGMENT => Target::Description(parent),
            ACL_SEGMENT => Target::Acl(parent),
            DOCUMENT if parent.is_root() => Target::Constraints,
            EVENTS_SEGMENT if parent.is_root() => Target::Events,
            _ => Target::Reserved(name),
        })
    }
}

/// Puts the changes of a request into a transaction.
pub type Work<T> = dyn Fn(&mut Writer<'_>) -> Result<T, Problem> + Send + Sync;

impl Request {
    /// The conditions of a PUT: the settings may require one.
    pub fn conditions_of_put(&self) -> ResourceConditions {
        ResourceConditions::of_put(&self.call.headers, self.settings.is_if_match_required)
    }

    /// The weight of a write, if its conditions need the tag of the resource at a path: computing that reads all of it.
    pub fn weight_with(
        &self,
        path: &Path,
        conditions: &ResourceConditions,
        weight: Weight,
    ) -> Result<Weight, Problem> {
        if weight == Weight::Heavy || conditions.are_empty() {
            return Ok(weight);
        }
        let snapshot = self.call.door.snapshot()?;
        let view = View { snapshot: &snapshot, base: &self.base };
        let Found::Live(entity, _) = view.find(path)? else { return Ok(weight) };
        let size = resource_tag::size(view, &entity, &Selection::default())?;
        Ok(if size < resource_tag::TRIPLES_MANY { weight } else { Weight::Heavy })
    }

    /// Commits the changes that `work` makes. If it was refused, and another request that its snapshot does not show may
    /// be the reason, it is done again on a fresh snapshot. Any other refusal is the answer at once.
    pub async fn commit<T: Send + 'static>(
        &self,
        weight: Weight,
        work: impl Fn(&mut Writer<'_>) -> Result<T, Problem> + Send + Sync + 'static,
    ) -> Result<(T, Receipt), Problem> {
        let signature = Signature::of(&self.call)?;
        let work: Arc<Work<T>> = Arc::new(work);
        let mut attempt = 1;
        loop {
            let position = self.call.door.snapshot()?.position();
            let outcome = self.commit_once(weight, &signature, Arc::clone(&work)).await;
            match outcome {
                Err(problem) if attempt < ATTEMPTS_MAX && problem.is_raced() => attempt += 1,
                outcome => return outcome,
            }
            wait_for_winner(&self.call.door, position).await;
        }
    }

    async fn commit_once<T: Send + 'static>(
        &self,
        weight: Weight,
        signature: &Signature,
        work: Arc<Work<T>>,
    ) -> Result<(T, Receipt), Problem> {
        let (signature, base, permit) = (signature.clone(), self.base.clone(), self.permit.clone());
        let target = signature.target.clone();
        let build = move |transaction: &mut Transaction| {
            signature.sign(transaction);
            let snapshot = transaction.base().clone();
            // ACLs may have changed since the request came.
            permit.as_ref().map_or(Ok(()), |permit| permit.check_at(transaction))?;
            let result = work(&mut Writer::new(transaction, &snapshot, &base)?)?;
            permit.as_ref().map_or(Ok(()), |permit| permit.check_members(transaction))?;
            Ok(result)
        };
        commit(&self.call.door, weight, target, Box::new(build)).await
    }
}
