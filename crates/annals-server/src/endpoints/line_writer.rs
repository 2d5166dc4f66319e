//! Passes text that is written line by line on to an answer in lines.

use std::io;

use annals_exchange::Stop;
use annals_json::{Form, JsonText};

use crate::answer::lines::Lines;
use crate::protocol::problem::Problem;

/// The outcome of an answer that was written line by line.
pub(super) fn outcome_of(outcome: annals_exchange::Outcome, writer: LineWriter) -> Result<(), Problem> {
    match (outcome, writer.problem) {
        (_, Some(problem)) => Err(problem),
        (Ok(()), None) => Ok(()),
        (Err(Stop::Failed(error) | Stop::Refused(error)), None) => Err(error.into()),
        (Err(stop), None) => Err(Problem::door("internal", format!("export: {stop:?}"))),
    }
}

/// Passes lines on to the answer.
pub(super) struct LineWriter<'l> {
    lines: &'l mut Lines,
    /// The line so far.
    line: Vec<u8>,
    /// Why the answer could not be sent.
    problem: Option<Problem>,
}

impl<'l> LineWriter<'l> {
    pub(super) fn new(lines: &'l mut Lines) -> LineWriter<'l> {
        LineWriter { lines, line: Vec::new(), problem: None }
    }
}

/// A finished line.
struct Text<'t>(&'t [u8]);

impl Form for Text<'_> {
    fn write(&self, to: &mut JsonText) {
        to.json(self.0);
    }
}

impl io::Write for LineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = bytes.iter().position(|&byte| byte == b'\n');
        self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        let Some(end) = end else { return Ok(bytes.len()) };
        let told = self.lines.line(&Text(&self.line));
        self.line.clear();
        if let Err(problem) = told {
            self.problem = Some(problem);
            return Err(io::Error::other("the answer takes no more"));
        }
        Ok(end + 1)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
