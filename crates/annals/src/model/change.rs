//! A record: author, time, message and changes of a transaction. The log holds nothing else.

use std::sync::Arc;

use super::Instant;
use super::anchor::Anchor;
use crate::IdempotencyKey;
use crate::graph::actions::Action;

/// One committed transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The commit instant; never earlier than that of the record before.
    pub instant: Instant,
    /// The author; may be empty.
    pub author: Arc<str>,
    /// The reason; may be empty.
    pub message: Arc<str>,
    /// The valid time of its changes; the commit instant if `None`.
    pub valid_from: Option<Instant>,
    /// The key of the request that it is the commit of.
    pub idempotency_key: Option<IdempotencyKey>,
    /// Its changes, in order.
    pub changes: Vec<Change>,
}

/// One change of one instance, or of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The action.
    pub action: Action,
    /// The valid time of this change, if it differs from the record's.
    pub valid_from: Option<Instant>,
    /// The whole content after the change. Only some changes have it, so that reading history never goes far back.
    pub anchor: Option<Anchor>,
}

impl<A: Into<Action>> From<A> for Change {
    fn from(action: A) -> Change {
        Change { action: action.into(), valid_from: None, anchor: None }
    }
}
