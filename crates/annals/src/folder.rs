//! The folder of a repository: who owns which name in it.
//!
//! `log/` segments of the log · `checkpoints/` checkpoints.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Result;
use crate::checkpoint;
use crate::graph::Graph;
use crate::log::FileLog;

/// The folder of a repository, opened.
pub(crate) struct Folder {
    path: PathBuf,
    log: Arc<FileLog>,
}

impl Folder {
    pub(crate) fn open(path: &Path, is_read_only: bool) -> Result<(Folder, Vec<String>)> {
        let log_path = log_folder(path);
        let log = if is_read_only {
            FileLog::open_read_only(&log_path)?
        } else {
            // It creates the folders above it, too, durably.
            FileLog::open(&log_path)?
        };
        Ok((Folder { path: path.to_path_buf(), log: Arc::new(log) }, Vec::new()))
    }

    pub(crate) fn log(&self) -> &Arc<FileLog> {
        &self.log
    }

    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    /// The newest whole checkpoint that the log reaches, or the empty graph.
    pub(crate) fn load_checkpoint(&self, warnings: &mut Vec<String>) -> Result<Graph> {
        use crate::log::Log;
        let tail = self.log.tail()?;
        Ok(checkpoint::load_newest(&self.checkpoints(), tail, warnings).unwrap_or_else(Graph::new))
    }
}

/// Where the log of the repository at `path` is.
pub(crate) fn log_folder(path: &Path) -> PathBuf {
    path.join("log")
}
