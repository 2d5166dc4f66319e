//! A system that answers requests: a part of this program, or an adapter in a process of its own. ADAPTERS.md describes
//! the requests.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
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
        let text = answer.to_string();
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
        let (send, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Adapter { child, requests, answers })
    }
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
                // What it still does must not disturb the next measurement.
                let _ = self.child.process().kill();
                return Err(format!("DNF({} s)", time_max.as_secs()).into());
            }
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait(Duration::from_secs(5))?;
                return Err(format!("the adapter ended, {status}, at {request}").into());
            }
        };
        let answer: Value =
            serde_json::from_str(&line).map_err(|error| format!("{request}: answered {line:?}: {error}"))?;
        match answer.get("error") {
            Some(error) => Err(format!("{request}: {}", error.as_str().unwrap_or("failed")).into()),
            None => Ok(answer),
        }
    }
}
