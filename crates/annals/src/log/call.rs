//! One append to a log, and the outcomes that it can have.

use std::fmt;

use crate::{Error, ErrorKind, Position, Result};

/// Names one append call. Its repeats have the same token, and no other call has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u128);

/// The term of a writer; each takeover begins a higher one. 0 on a log without a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub u64);

/// One append: records for the positions `at`, `at + 1`, …
///
/// While its outcome is unknown, a caller sends the same values again.
#[derive(Clone, Copy, Debug)]
pub struct Call<'r> {
    /// The position of the first record.
    pub at: Position,
    /// The name of the call.
    pub token: Token,
    /// The term of the writer.
    pub term: Term,
    /// Shape: never empty; each record holds at most [`RECORD_BYTES_MAX`](super::RECORD_BYTES_MAX), all together at most
    /// [`APPEND_BYTES_MAX`](super::APPEND_BYTES_MAX) bytes.
    pub records: &'r [&'r [u8]],
}

/// The outcome of an append.
///
/// After [`Appended::Unknown`] only [`Appended::Stored`] and [`Appended::Taken`] are proofs: an earlier try may still be
/// under way, so a later refusal says nothing about it.
#[derive(Debug)]
#[must_use]
pub enum Appended {
    /// All records are durable, by this try or by an earlier one with the same token.
    Stored,
    /// Another call has the position. No record of this one is in the log, nor ever will be.
    Taken,
    /// The log refused this try, and no record of it can become durable later.
    Refused(Error),
    /// The records may be durable, or become so later: the answer was lost, or came too late. Send the same call again.
    Unknown(Error),
    /// This handle cannot find out the outcome, now or later: open the log again.
    Lost(Error),
}

impl Token {
    /// A new token, different from all others.
    #[expect(clippy::expect_used, reason = "without random bytes, two calls could have one token")]
    pub fn random() -> Token {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system gives random bytes");
        Token(u128::from_le_bytes(bytes))
    }

    /// The token of the next call of the same caller.
    #[must_use]
    pub fn next(self) -> Token {
        Token(self.0.wrapping_add(1))
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Appended {
    /// The outcome for a caller that does not send the call again.
    ///
    /// Errors: `Conflict` if another call has the position; the reason of a refusal, or of a handle that is lost;
    /// `OutcomeUnknown`.
    pub(super) fn for_good(self, log: &str, at: Position) -> Result<()> {
        match self {
            Appended::Stored => Ok(()),
            Appended::Taken => Err(Error::new(
                ErrorKind::Conflict,
                format!("{log}: position {at} is taken; reload and retry"),
            )),
            Appended::Refused(error) | Appended::Lost(error) => Err(error),
            Appended::Unknown(error) => {
                let text =
                    format!("{log}: whether the records are durable is unknown; read the tail to learn it");
                Err(Error::new(ErrorKind::OutcomeUnknown, text).caused_by(error.to_string()))
            }
        }
    }
}
