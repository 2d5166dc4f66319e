//! The reports that operators read: the log of the process, lines of requests and of refusals, and metrics. Must not
//! know the door: the other rooms hand in what is counted.

// In the order a newcomer should read them.
pub mod logging;
pub mod request_log;
pub mod refusals;
pub mod metrics;
