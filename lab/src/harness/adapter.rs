//! A system that answers requests: a part of this program, or an adapter in a process of its own. ADAPTERS.md describes
//! the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::Value;

use crate::outcome::Outcome;
use crate::run::Child;

/// A measured system.
pub trait System {
    /// Answers a request within a time.
    ///
    /// Errors: if the request failed, and if there was no answer in time; then the system has ended.
    fn ask(&mut self, request: &Value, time_max: Duration) -> Outcome<Value>;
}

/// The answer to a request, or the reason why the system cannot do it.
pub enum Answered<T> {
    Answer(T),
    Skip(String),
}

impl dyn System + '_ {
    /// Asks, and reads the answer as `T`.
    pub fn answer<T: serde::de::DeserializeOwned>(
        &mut self,
        request: &Value,
        time_max: Duration,
    ) -> Outcome<Answered<T>> {
        let answer = self.ask(request, time_max)?;
        if let Some(reason) = answer.get("skip") {
            return Ok(Answered::Skip(reason.as_str().unwrap_or("no reason given").to_owned()));
        }
        let text: String = answer.to_string().chars().take(TOLD_LENGTH_MAX).collect();
        let read = serde_json::from_value(answer);
        Ok(Answered::Answer(read.map_err(|error| format!("{request}: answered {text}: {error}"))?))
    }

    /// The same of a system that must be able to.
    pub fn must<T: serde::de::DeserializeOwned>(
        &mut self,
        request: &Value,
        time_max: Duration,
    ) -> Outcome<T> {
        match self.answer(request, time_max)? {
            Answered::Answer(answer) => Ok(answer),
            Answered::Skip(reason) => Err(format!("{request}: skipped: {reason}").into()),
        }
    }
}

/// Longest answer: many times that of a loop with all its latencies.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// How much of an answer an error tells. Units: characters.
const TOLD_LENGTH_MAX: usize = 200;

/// An adapter in a process of its own, which ends with this value.
pub struct Adapter {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<std::io::Result<String>>,
}

impl Adapter {
    /// Starts it. Its standard error goes where that of this process goes.
    pub fn start(name: &str, command: &mut Command) -> Outcome<Adapter> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = Child::start(name, command)?;
        let requests = child.process().stdin.take().expect("standard input is a pipe");
        let output = child.process().stdout.take().expect("standard output is a pipe");
        let (send, answers) = sync_channel(1);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(line) = next_line(&mut output).transpose() {
                let is_last = line.is_err();
                if send.send(line).is_err() || is_last {
                    return;
                }
            }
        });
        Ok(Adapter { child, requests, answers })
    }
}

/// The next line; None at the end.
///
/// Errors: if it is longer than [`ANSWER_BYTES_MAX`], or no text.
fn next_line(output: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut line = Vec::new();
    output.take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() as u64 == ANSWER_BYTES_MAX {
        let text = format!("expected an answer of less than {ANSWER_BYTES_MAX} bytes, found a longer line");
        return Err(std::io::Error::other(text));
    }
    let text = String::from_utf8(line).map_err(std::io::Error::other)?;
    Ok(Some(text.trim_end_matches('\n').to_owned()))
}

impl System for Adapter {
    fn ask(&mut self, request: &Value, time_max: Duration) -> Outcome<Value> {
        let written = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        if let Err(error) = written {
            self.child.check_running()?;
            return Err(format!("{request}: {error}").into());
        }
        let line = match self.answers.recv_timeout(time_max) {
            Ok(line) => line?,
            Err(RecvTimeoutError::Timeout) => {
                // Its remaining work must not disturb the next measurement.
                let _ = self.child.process().kill();
                return Err(format!("DNF({} s)", time_max.as_secs()).into());
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait(Duration::from_secs(5))?;
                return Err(format!("the adapter ended, {status}, at {request}").into());
            }
        };
        let told: String = line.chars().take(TOLD_LENGTH_MAX).collect();
        let answer: Value =
            serde_json::from_str(&line).map_err(|error| format!("{request}: answered {told:?}: {error}"))?;
        match answer.get("error") {
            Some(error) => Err(format!("{request}: {}", error.as_str().unwrap_or("failed")).into()),
            None => Ok(answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_is_refused_and_not_kept() {
        let mut output = BufReader::new(b"{}\nlast".chain(std::io::repeat(b'x')));
        assert_eq!(next_line(&mut output).unwrap().as_deref(), Some("{}"));
        let error = next_line(&mut output).unwrap_err().to_string();
        assert!(error.contains("found a longer line"), "{error}");
        assert_eq!(next_line(&mut &b""[..]).unwrap(), None);
        assert_eq!(next_line(&mut &b"cut"[..]).unwrap().as_deref(), Some("cut"));
        assert!(next_line(&mut &b"\xff\n"[..]).is_err());
    }
}
