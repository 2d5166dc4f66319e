//! One writer after the other on a log with a register: the lease decides who tries to take over, and the log decides
//! who writes.

mod lease;
mod promote;
mod values;

pub use lease::{LeaseHolder, Standing};
pub(crate) use lease::{Seat, start};
