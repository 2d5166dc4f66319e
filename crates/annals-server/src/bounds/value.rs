//! The bounds of one server as a value: its limits, the permits that hold them, and the shares of its clients.

use super::limits::{Gates, Limits};
use super::peers::Peers;

/// The bounds of one server. Everything that counts against them gets them, and nothing else of the server.
pub struct Bounds {
    /// Sizes, counts and times.
    pub limits: Limits,
    /// The permits that hold the counted limits.
    pub gates: Gates,
    /// The share of each client.
    pub peers: Peers,
}

impl Bounds {
    /// Bounds in which nothing is used yet.
    pub fn new(limits: Limits) -> Bounds {
        Bounds { gates: Gates::new(&limits), peers: Peers::new(limits.client_share), limits }
    }
}
