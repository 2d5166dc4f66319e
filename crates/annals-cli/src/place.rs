//! The place that answers requests: the door of the repository in a folder, in this process, or a server.

use annals::{Error, ErrorKind, Repository, Result};
use annals_server::{Exchange, InProcess, Limits};
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::HeaderMap;

use crate::interrupt;
use crate::remote::{Remote, RemoteAnswer, Upload};
use crate::request::Request;
use crate::stop::Outcome;
use crate::told::Told;

/// Longest answer that is read whole, and not as lines. Units: bytes.
const WHOLE_BYTES_MAX: usize = 1 << 30;
/// Longest problem. Units: bytes.
const PROBLEM_BYTES_MAX: usize = 4 << 20;

/// The place that answers.
pub enum Place {
    /// A repository that this process has open.
    Folder(InProcess, Repository),
    /// A server.
    Server(Box<Remote>),
}

impl Place {
    /// The door of an open repository.
    ///
    /// Errors: `Io`.
    pub fn of_folder(repository: Repository) -> Result<Place> {
        let door = InProcess::new(repository.clone(), Limits::of_one_client())?;
        Ok(Place::Folder(door, repository))
    }

    /// Sends a request, and waits for the head of the answer.
    ///
    /// Errors: the problem that is the answer; those of reaching a server.
    pub fn ask(&self, request: Request) -> Outcome<Answer> {
        let answer = match self {
            Place::Folder(door, _) => {
                let (head, body) = request.into_http("localhost")?;
                let mut exchange = door.send(head, !body.is_empty())?;
                interrupt::ends(exchange.closer());
                if !body.is_empty() {
                    exchange.write(body);
                    exchange.finish();
                }
                let head = exchange.head()?;
                let (status, headers) = (head.status(), head.headers().clone());
                Answer {
                    status,
                    headers,
                    source: Source::Folder(Box::new(exchange)),
                    read: Vec::new(),
                    at: 0,
                }
            }
            Place::Server(remote) => {
                let (status, headers, answer) = remote.ask(request)?;
                Answer { status, headers, source: Source::Server(answer), read: Vec::new(), at: 0 }
            }
        };
        answer.or_told()
    }

    /// Sends a request with a body that is read while it is sent. Only servers get such requests.
    ///
    /// Errors: as [`Place::ask`]; `Io` if the body cannot be read.
    pub fn send(&self, request: Request, upload: Upload) -> Outcome<Answer> {
        let Place::Server(remote) = self else {
            unreachable!("a command reads a file itself for a repository that it has open")
        };
        let (status, headers, answer) = remote.send(request, Some(upload))?;
        Answer { status, headers, source: Source::Server(answer), read: Vec::new(), at: 0 }.or_told()
    }

    /// Ends the requests, and closes the repository if this process has it open.
    ///
    /// Errors: those of [`Repository::close`].
    pub fn close(self) -> Result<()> {
        match self {
            Place::Folder(door, repository) => {
                drop(door);
                repository.close()
            }
            Place::Server(_) => Ok(()),
        }
    }
}

enum Source {
    Folder(Box<Exchange>),
    Server(RemoteAnswer),
}

/// An answer that is no problem. Dropping it cancels the work.
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    source: Source,
    /// Bytes that came, of which those from `at` on are not given out yet.
    read: Vec<u8>,
    at: usize,
}

impl Answer {
    /// The answer, if it is no problem.
    fn or_told(mut self) -> Outcome<Answer> {
        if self.status.is_success() {
            return Ok(self);
        }
        let body = self.whole_within(PROBLEM_BYTES_MAX)?;
        Err(Told::from_answer(self.status, &body).into())
    }

    /// The position of the snapshot that it shows, or of the record that was written.
    pub fn position(&self) -> Option<u64> {
        self.headers.get("annals-position")?.to_str().ok()?.parse().ok()
    }

    /// The next part of the body; `None` at its end.
    ///
    /// Errors: those of reading from a server.
    pub fn part(&mut self) -> Outcome<Option<Bytes>> {
        match &mut self.source {
            Source::Folder(exchange) => Ok(exchange.read()?),
            Source::Server(answer) => answer.part(),
        }
    }

    /// The whole body.
    pub fn whole(&mut self) -> Outcome<Vec<u8>> {
        self.whole_within(WHOLE_BYTES_MAX)
    }

    fn whole_within(&mut self, bytes_max: usize) -> Outcome<Vec<u8>> {
        let mut whole = Vec::new();
        while let Some(part) = self.part()? {
            if whole.len() + part.len() > bytes_max {
                let text = format!("answer: expected at most {bytes_max} bytes, found more; ask for less");
                return Err(Error::new(ErrorKind::TooLarge, text).into());
            }
            whole.extend_from_slice(&part);
        }
        Ok(whole)
    }

    /// Hands on the body to standard output, as it comes.
    pub fn copy_to(&mut self, writer: &mut impl std::io::Write) -> Outcome {
        self.copy_with(|part| Ok(writer.write_all(part)?))
    }

    /// Hands on the body as it comes.
    pub fn copy_with(&mut self, mut take: impl FnMut(&[u8]) -> Outcome) -> Outcome {
        while let Some(part) = self.part()? {
            take(&part)?;
        }
        Ok(())
    }

    /// The next line, without its end.
    ///
    /// Errors: the problem that ended the answer.
    pub fn line(&mut self) -> Outcome<Option<AnswerLine>> {
        let mut searched = self.at;
        loop {
            if let Some(length) = self.read[searched..].iter().position(|byte| *byte == b'\n') {
                let end = searched + length;
                let line = self.read[self.at..end].to_vec();
                self.at = end + 1;
                return AnswerLine::of(line).map(Some);
            }
            self.read.drain(..self.at);
            (self.at, searched) = (0, self.read.len());
            match self.part()? {
                Some(part) => self.read.extend_from_slice(&part),
                None if self.read.is_empty() => return Ok(None),
                None => return AnswerLine::of(std::mem::take(&mut self.read)).map(Some),
            }
        }
    }
}

/// A line of an answer.
pub enum AnswerLine {
    /// An item, in JSON.
    Item(Vec<u8>),
    /// The last line, if there is more: the cursor.
    Next(String),
}

impl AnswerLine {
    fn of(line: Vec<u8>) -> Outcome<AnswerLine> {
        // No item begins with these members.
        let member = |name: &str| {
            let json: serde_json::Value = serde_json::from_slice(&line).ok()?;
            json.get(name).cloned()
        };
        if line.starts_with(b"{\"next\":")
            && let Some(next) = member("next").as_ref().and_then(serde_json::Value::as_str)
        {
            return Ok(AnswerLine::Next(next.to_owned()));
        }
        if line.starts_with(b"{\"error\":")
            && let Some(problem) = member("error")
        {
            return Err(Told::from_problem(&problem).into());
        }
        Ok(AnswerLine::Item(line))
    }
}
