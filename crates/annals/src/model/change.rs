//! A record: who changed what, when and why. The log holds nothing else.

use std::sync::Arc;

use super::Instant;
use super::anchor::Anchor;
use crate::graph::actions::Action;

/// One committed transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// When it was committed; never earlier than the record before.
    pub instant: Instant,
    /// Who committed it; may be empty.
    pub author: Arc<str>,
    /// Why; may be empty.
    pub message: Arc<str>,
    /// From when its changes are true; the commit instant if `None`.
    pub valid_from: Option<Instant>,
    /// What it changed, in order.
    pub changes: Vec<Change>,
}

/// One change of one instance, or of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What is done.
    pub action: Action,
    /// From when it is true, if that differs from the record's.
    pub valid_from: Option<Instant>,
    /// The whole content after the change, now and then, so that reading history never walks far.
    pub anchor: Option<Anchor>,
}

impl<A: Into<Action>> From<A> for Change {
    fn from(action: A) -> Change {
        Change { action: action.into(), valid_from: None, anchor: None }
    }
}
