//! A standby becomes the writer, and a writer a standby.

use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use super::lease::{Seat, Sign};
use crate::log::{Appended, Call, Register, Term, Token};
use crate::model::Instant;
use crate::record::encode_term;
use crate::write::commit::following::read_to_end;
use crate::write::commit::queue::Committer;
use crate::{Error, ErrorKind, Position, Result};

/// The clock of the store may differ from the own one by so much. Units: microseconds.
const CLOCKS_APART_MAX: i64 = 2 * 1_000_000;
/// An append is tried for so long.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// Becomes the writer of the next term: claims the lease, raises the term, reads to the end of the log, and appends the
/// record of the term. The old writer cannot append behind that record without reading it.
///
/// Errors: `Locked` if another one was first; those of the log and of its register. It is a standby as before then.
pub(super) fn promote(
    seat: &Seat,
    committer: &Arc<Committer>,
    register: &dyn Register,
    reason: &str,
) -> Result<()> {
    if let Some(problem) = clock_problem(register)? {
        return Err(problem);
    }
    let known = seat.upkeep.load()?;
    let term = Term(known.as_ref().map_or(0, |upkeep| upkeep.term.0) + 1);
    // Order: the lease first, so that of several standbys one tries. It proves nothing.
    if !seat.sign(register, committer, Sign::Claim(term))? {
        seat.look(register)?;
        return Err(seat.locked());
    }
    // Order: before the log. Whatever the old writer keeps up beside the log fails from here on.
    if !seat.upkeep.begin_term(known.as_ref(), term)? {
        return Err(seat.locked());
    }
    // The writer before may have told instants as settled up to there.
    let told = seat.state().known.as_ref().map(|lease| lease.end).unwrap_or_default();
    let sequencer = committer.take_sequencer(Clock::now() + PATIENCE)?;
    let begun = begin_term(committer, (term, seat.writer), known.is_none(), told, reason);
    committer.return_sequencer(sequencer);
    begun?;
    committer.begin_writing(term, told, told);
    // If this fails, the thread of the lease does it again.
    let _ = seat.sign(register, committer, Sign::Life);
    Ok(())
}

/// Reads to the end of the log, and appends the record of the term there. The first writer of an empty log appends none: an
/// imported history begins at position 1. The record has no instant before `told`.
fn begin_term(
    committer: &Committer,
    (own, writer): (Term, Token),
    is_first: bool,
    told: Instant,
    reason: &str,
) -> Result<()> {
    let log = committer.source().log();
    let mut token = Token::random();
    let end = Clock::now() + PATIENCE;
    let mut sent: Option<(Position, Vec<u8>)> = None;
    loop {
        let read = read_to_end(committer)?;
        if read.term > own {
            let text = format!("take over: expected term {own}, found the record of term {}", read.term);
            return Err(Error::new(ErrorKind::Locked, text));
        }
        if read.term == own || is_first && read.position == Position::ZERO {
            return Ok(());
        }
        let at = read.position.next();
        // The same bytes for the same position: the outcome of an earlier try may be unknown.
        if sent.as_ref().is_none_or(|(position, _)| *position != at) {
            token = token.next();
            sent = Some((at, encode_term(read.instant.max(told), own, writer, reason)));
        }
        let record = sent.as_ref().map(|(_, record)| record.as_slice()).unwrap_or_default();
        let outcome = log.append_call(&Call { at, token, term: own, records: &[record] });
        let error = match outcome {
            Appended::Stored | Appended::Taken => continue,
            Appended::Lost(error) => return Err(error),
            Appended::Refused(error) | Appended::Unknown(error) => error,
        };
        if Clock::now() >= end {
            return Err(error);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Why this clock keeps the repository from taking over: it would drag the instants of all records along.
///
/// Errors: those of the register.
pub(super) fn clock_problem(register: &dyn Register) -> Result<Option<Error>> {
    let (own, theirs) = (Instant::now(), register.now()?);
    if own.micros().abs_diff(theirs.micros()) <= CLOCKS_APART_MAX.unsigned_abs() {
        return Ok(None);
    }
    let text = format!(
        "take over: expected a clock within 2 s of the log's, which says {theirs}, found {own}; set the clock of this machine"
    );
    Ok(Some(Error::new(ErrorKind::Unavailable, text)))
}

/// Waits until what was sent before is known, and gives the lease back.
pub(super) fn release(seat: &Seat, committer: &Committer) -> Result<()> {
    let sequencer = committer.take_sequencer(Clock::now() + PATIENCE)?;
    committer.return_sequencer(sequencer);
    let register = seat.upkeep.register()?;
    if !seat.sign(register, committer, Sign::Release)? {
        seat.look(register)?;
    }
    Ok(())
}
