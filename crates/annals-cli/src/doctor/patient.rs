//! The patient of the doctor: a repository, the options of its server, and its unit.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::unit::UnitFile;

/// The options of a server that the doctor compares with its machine.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The configuration file, if there is one.
    pub config: Option<PathBuf>,
    /// The address to listen at; `None` if nobody named one.
    pub listen: Option<SocketAddr>,
    /// Most open connections; `None` if nobody named them.
    pub connections_max: Option<usize>,
    /// The memory budget. Units: bytes.
    pub memory_bytes_max: Option<u64>,
    /// Longest time for requests in progress to end after a signal. Units: milliseconds.
    pub stop_time_ms: u64,
    /// True if the server only reads.
    pub is_read_only: bool,
}

/// The patient.
#[derive(Debug)]
pub struct Patient {
    /// The folder of the repository; `None` for a log in a store.
    pub folder: Option<PathBuf>,
    /// The options of its server.
    pub options: ServerOptions,
    /// The unit that starts it.
    pub unit: Option<UnitFile>,
    /// A folder for the probe file, instead of the one that has the repository.
    pub probe: Option<PathBuf>,
}
