//! A file that refuses further writes when its checkpoint is no longer wanted, so that closing does not wait for a large
//! graph.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant as Clock;

/// When a checkpoint is given up.
#[derive(Clone, Copy)]
pub(crate) enum Stop<'s> {
    /// Once the repository is being closed.
    Closing(&'s AtomicBool),
    /// At this moment: the repository waits for it.
    At(Clock),
}

/// Errors: of every write once it is stopped. Not `Interrupted`, after which callers try again.
pub(crate) struct Stoppable<'s> {
    out: &'s mut dyn Write,
    stop: Stop<'s>,
}

impl<'s> Stoppable<'s> {
    pub(crate) fn new(out: &'s mut dyn Write, stop: Stop<'s>) -> Stoppable<'s> {
        Stoppable { out, stop }
    }

    fn check(&self) -> io::Result<()> {
        match self.stop {
            Stop::Closing(is_closing) if is_closing.load(Ordering::SeqCst) => {
                Err(io::Error::other("the repository is being closed"))
            }
            Stop::At(end) if Clock::now() >= end => Err(io::Error::other("it takes too long")),
            Stop::Closing(_) | Stop::At(_) => Ok(()),
        }
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
