//! The indexes of a table that are made when they are first asked for: those of a checkpoint, because many commands read one
//! instance and need none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::TableIndexes;
use crate::{Error, ErrorKind, Result};

/// Makes the indexes of a table. Errors: what they are made of is damaged.
pub(crate) type MakeIndexes = Box<dyn FnOnce() -> Result<TableIndexes> + Send>;

/// The indexes of a table, made or to be made. A clone shares them.
#[derive(Clone)]
pub(crate) enum LateIndexes {
    /// They are there.
    Made(Box<TableIndexes>),
    /// They are made once, when they are first asked for.
    Waiting(Arc<Waiting>),
}

/// Indexes that are made once.
pub(crate) struct Waiting {
    made: OnceLock<Result<TableIndexes>>,
    make: Mutex<Option<MakeIndexes>>,
}

impl Default for LateIndexes {
    fn default() -> LateIndexes {
        LateIndexes::Made(Box::default())
    }
}

impl LateIndexes {
    /// Indexes that `make` makes.
    pub(crate) fn waiting(make: MakeIndexes) -> LateIndexes {
        LateIndexes::Waiting(Arc::new(Waiting { made: OnceLock::new(), make: Mutex::new(Some(make)) }))
    }

    /// The indexes, made now if they are not. Errors: what they are made of is damaged.
    pub(crate) fn get(&self) -> Result<&TableIndexes> {
        match self {
            LateIndexes::Made(made) => Ok(made),
            LateIndexes::Waiting(waiting) => waiting.get().as_ref().map_err(Error::duplicate),
        }
    }

    /// The same, to be changed. Errors: as [`LateIndexes::get`].
    pub(crate) fn get_mut(&mut self) -> Result<&mut TableIndexes> {
        if let LateIndexes::Waiting(waiting) = self {
            let made = waiting.get().as_ref().map_err(Error::duplicate)?.clone();
            *self = LateIndexes::Made(Box::new(made));
        }
        match self {
            LateIndexes::Made(made) => Ok(made),
            LateIndexes::Waiting(_) => unreachable!("they were made above"),
        }
    }

    /// True if nobody has to wait for them.
    pub(crate) fn are_made(&self) -> bool {
        match self {
            LateIndexes::Made(_) => true,
            LateIndexes::Waiting(waiting) => waiting.made.get().is_some(),
        }
    }
}

impl Waiting {
    fn get(&self) -> &Result<TableIndexes> {
        self.made.get_or_init(|| {
            let make = self.make.lock().unwrap_or_else(PoisonError::into_inner).take();
            let made = make.map(|make| catch_unwind(AssertUnwindSafe(make)));
            made.and_then(std::result::Result::ok).unwrap_or_else(|| {
                Err(Error::new(ErrorKind::Corrupted, "the indexes of a checkpoint: making them panicked"))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_made_once_and_a_failure_stays() {
        let mut late = LateIndexes::waiting(Box::new(|| Ok(TableIndexes::default())));
        let clone = late.clone();
        assert!(!late.are_made());
        late.get_mut().unwrap();
        assert!(late.are_made() && clone.are_made() && clone.get().is_ok());
        let failing: [MakeIndexes; 2] =
            [Box::new(|| Err(Error::new(ErrorKind::Corrupted, "damaged"))), Box::new(|| panic!("of a test"))];
        for make in failing {
            let mut late = LateIndexes::waiting(make);
            for _ in 0..2 {
                assert_eq!(late.get().err().map(|error| error.kind()), Some(ErrorKind::Corrupted));
                assert_eq!(late.get_mut().err().map(|error| error.kind()), Some(ErrorKind::Corrupted));
            }
        }
    }
}
