//! Writing: transactions, and the queue that turns them into records.

mod transaction;
mod anchoring;
mod classifications;
mod correction;
mod properties;
mod new_values;
mod reads;
mod reading;
mod expectations;
mod ticket;
mod clock;
mod queue;
mod sequencer;
mod leader;
mod lifecycle;
mod limited;
mod shown;
mod internal;
mod admitted_contents;
mod declarations;
mod declared;
mod undo;
mod historic;
mod request;
mod outcome;
mod publisher;
mod upsert;
mod own_graph;
mod merge;
mod touched;
mod tree;
mod built_on;
mod taken_back;
mod retry;
mod validation;
mod candidate;

pub use built_on::BuiltOn;
pub(crate) use candidate::start as start_confirming;
pub use candidate::{
    CANDIDATES_MAX, CONFIRM_WITHIN_MAX, Candidate, CandidateCommit, CandidateConflict, Candidates, HeldTimer,
    Keep, Unconfirmed,
};
pub(crate) use leader::{prepare, start};
pub(crate) use queue::{Committer, Limits};
pub(crate) use retry::transact;
pub(crate) use sequencer::catch_up;
pub use ticket::{Receipt, Ticket};
pub use transaction::{RETRIES_MAX, TRANSACTION_BYTES_MAX, Transaction};
pub use tree::{Insert, TreeEdit};
pub use validation::{Proposal, Validator};
