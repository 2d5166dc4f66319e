//! Requests as a system of this program reads them.

use std::path::PathBuf;

use serde::Deserialize;

/// A request, as ADAPTERS.md describes it.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Request {
    Open { folder: PathBuf },
    Commits(Loop),
    Chains(Loop),
    BipartiteLoad { vertices: usize },
    BipartiteCheck { count: usize, stride: usize },
    Bipartite(Loop),
    Bulk { vertices: usize },
    TwoHopsOf { number: usize },
    TwoHops(Loop),
    HistoryPut { versions: i64 },
    HistoryRead { versions: usize },
    Reopen,
    Count,
    Memory,
    Close,
}

/// Work that threads repeat for a time.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Loop {
    pub threads: usize,
    pub seconds: f64,
    /// Operations that are due in a second, of an open loop.
    pub rate: Option<f64>,
}
