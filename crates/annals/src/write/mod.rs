//! Writing: transactions, and the queue that turns them into records.

// Each room imports only the rooms before it.
mod commit;
mod takeover;
mod build;
mod limited;
mod tree;
mod undo;
mod candidate;

pub(crate) use build::purged_edits::forget as forget_purged_edits;
pub(crate) use build::retry::transact;
pub use build::taken_back_mark::takes_back;
pub use build::transaction::{RETRIES_MAX, TRANSACTION_BYTES_MAX, Transaction};
pub(crate) use candidate::start as start_confirming;
pub use candidate::{
    CANDIDATES_MAX, CONFIRM_WITHIN_MAX, Candidate, CandidateCommit, CandidateConflict, Candidates, HeldTimer,
    Unconfirmed,
};
pub use commit::following::Following;
pub(crate) use commit::following::{follow, follow_step, following};
pub(crate) use commit::leader::{prepare, start};
pub(crate) use commit::outcome::refusal_at_first;
pub(crate) use commit::publisher::Publisher;
pub(crate) use commit::queue::{Committer, Limits};
pub use commit::ticket::{Receipt, Ticket};
pub use commit::validation::{Proposal, Validator};
pub use takeover::{LeaseHolder, Standing};
pub(crate) use takeover::{Seat, start as start_lease};
pub use tree::{Insert, TreeEdit};
pub use undo::found::{BuiltOn, Keep};
pub use undo::taken_back::{TAKEN_BACK_MAX, TakenBack};
