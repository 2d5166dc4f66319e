//! Keeps records in memory: for tests, examples and repositories that need not outlive their process.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::{Batch, Log, ReadLimit, check_append, check_next, check_read};
use crate::{Position, Result};

/// A log in memory. Clones are handles onto the same records, so two of them race as two processes would.
#[derive(Clone, Default)]
pub struct MemoryLog {
    records: Arc<RwLock<Vec<Vec<u8>>>>,
}

impl MemoryLog {
    /// An empty log.
    pub fn new() -> MemoryLog {
        MemoryLog::default()
    }
}

impl Log for MemoryLog {
    fn tail(&self) -> Result<Position> {
        Ok(Position(self.records.read().unwrap_or_else(PoisonError::into_inner).len() as u64))
    }

    fn append(&self, at: Position, records: &[&[u8]]) -> Result<()> {
        check_append(self, at, records)?;
        let mut stored = self.records.write().unwrap_or_else(PoisonError::into_inner);
        check_next(self, at, Position(stored.len() as u64))?;
        stored.extend(records.iter().map(|record| record.to_vec()));
        Ok(())
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        let stored = self.records.read().unwrap_or_else(PoisonError::into_inner);
        let start = usize::try_from(from.0 - 1).unwrap_or(usize::MAX);
        let mut batch = Batch::new(limit);
        for record in stored.get(start..).unwrap_or_default() {
            if !batch.offer(record) || batch.is_full() {
                break;
            }
        }
        Ok(batch.into_records())
    }

    fn describe(&self) -> String {
        "memory log".to_string()
    }
}

impl fmt::Debug for MemoryLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLog").field("tail", &self.tail()).finish()
    }
}
