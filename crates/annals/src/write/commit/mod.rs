//! From a transaction that is handed over to its outcome: the bounded queue, the sequencer, the thread that commits, the
//! thread that publishes, the ticket. It knows requests, and not how a transaction collects its changes.

// In the order in which a commit meets them.
pub(super) mod request;
pub(super) mod expectations;
pub(super) mod reads;
pub(super) mod ticket;
pub(super) mod clock;
mod settled;
pub(super) mod settling;
mod last_read;
pub(super) mod queue;
pub(super) mod sequencer;
mod stall;
mod read_on;
mod anew;
pub(super) mod following;
pub(super) mod validation;
pub(super) mod leader;
pub(super) mod publisher;
mod writing;
pub(super) mod outcome;
