//! A file that refuses further writes when the repository is being closed, so that closing does not wait for a large
//! graph.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Errors: of every write once `is_stopping` is set. Not `Interrupted`, after which callers try again.
pub(crate) struct Stoppable<'s> {
    out: &'s mut dyn Write,
    is_stopping: &'s AtomicBool,
}

impl<'s> Stoppable<'s> {
    pub(crate) fn new(out: &'s mut dyn Write, is_stopping: &'s AtomicBool) -> Stoppable<'s> {
        Stoppable { out, is_stopping }
    }

    fn check(&self) -> io::Result<()> {
        if self.is_stopping.load(Ordering::SeqCst) {
            return Err(io::Error::other("the repository is being closed"));
        }
        Ok(())
    }
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        self.out.flush()
    }
}
