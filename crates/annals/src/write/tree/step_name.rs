//! The name of the item that a step of a path leads to.

use std::sync::Arc;

use crate::graph::Graph;
use crate::model::Value;
use crate::tree::{PathSteps, TreeStep};
use crate::{Error, ErrorKind, Result};

/// The name of an item's step, whether it names a list, and the keys in it.
pub(super) type StepName = (Arc<str>, bool, Vec<(Arc<str>, Value)>);

/// The meaning of a step to an item: the child, or the list and the keys in it.
pub(super) fn named(graph: &Graph, step: &TreeStep, path: PathSteps<'_>) -> Result<StepName> {
    let Some((name, keys)) = step.keys() else { return Err(no_look_up(path)) };
    let is_listed = graph.list_type(name).is_some();
    if !is_listed && !keys.is_empty() {
        let text = format!("path {path}: {name} has no keys; declare them in an entity type of this name");
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    if is_listed && keys.is_empty() {
        let text = format!("path {path}: {name} is a list; expected the keys of one of its items");
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    let keys = keys.into_iter().map(|(name, value)| (Arc::clone(name), value.clone()));
    Ok((Arc::clone(name), is_listed, keys.collect()))
}

pub(super) fn no_look_up(path: PathSteps<'_>) -> Error {
    let text = format!("path {path}: expected the path of one item: names, and all keys of items in lists");
    Error::new(ErrorKind::InvalidArgument, text)
}
