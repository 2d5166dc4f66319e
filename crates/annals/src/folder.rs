//! The folder of a repository: who owns which name in it.
//!
//! `log/` segments of the log · `checkpoints/` checkpoints · `compacting` there while a compaction is unfinished ·
//! `spilled/` empty to look at: long values of a repository with a memory budget, in files that have no name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Result;
use crate::checkpoint;
use crate::compact;
use crate::graph::Graph;
use crate::graph::spill_file::{SUFFIX, SpillSettings};
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
        let folder = Folder { path: path.to_path_buf(), log: Arc::new(log) };
        compact::finish(&folder, is_read_only)?;
        if !is_read_only {
            folder.remove_spilled();
        }
        Ok((folder, Vec::new()))
    }

    pub(crate) fn log(&self) -> &Arc<FileLog> {
        &self.log
    }

    /// Where an unfinished compaction says what it takes out.
    pub(crate) fn compacting(&self) -> PathBuf {
        self.path.join("compacting")
    }

    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    /// The newest whole checkpoint that the log reaches, or the empty graph.
    pub(crate) fn load_checkpoint(
        &self,
        spill: Option<&SpillSettings>,
        warnings: &mut Vec<String>,
    ) -> Result<Graph> {
        let newest = checkpoint::load_newest(&self.checkpoints(), &*self.log, spill, warnings)?;
        Ok(newest.unwrap_or_else(|| Graph::with_spill(spill)))
    }

    /// What a crash left in the moment between making a file and taking its name. Nobody else writes here now.
    fn remove_spilled(&self) {
        let Ok(entries) = std::fs::read_dir(self.spilled()) else { return };
        let paths = entries.flatten().map(|entry| entry.path());
        for path in paths.filter(|path| path.to_string_lossy().ends_with(SUFFIX)) {
            // It takes room and does no other harm.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Where a process that may write here keeps long values: files that are gone when it is.
    pub(crate) fn spilled(&self) -> PathBuf {
        self.path.join("spilled")
    }
}

/// Where the log of the repository at `path` is.
pub(crate) fn log_folder(path: &Path) -> PathBuf {
    path.join("log")
}
