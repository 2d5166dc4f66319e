//! The wire protocol of MongoDB, as far as the target needs it: one command after the other over one connection.
//!
//! Source: <https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/>, message OP_MSG. The official client cannot
//! be built without TLS, so only its library for BSON is used.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bson::{Document, RawDocument, RawDocumentBuf, deserialize_from_slice, doc};
use serde::de::DeserializeOwned;

use crate::outcome::Outcome;

/// Longest time one answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(600);
/// Largest message that the protocol allows. Units: bytes.
const MESSAGE_BYTES_MAX: usize = 48_000_000;
/// Documents of one message, when there are many.
const BATCH: usize = 10_000;

/// The only kind of message.
const OP_MSG: i32 = 2013;
/// Bytes before the flags: length, number of the request, number of the answered request, kind.
const HEAD_BYTES: usize = 16;
/// Bytes before the document of an answer: head, flags, and the kind of the section.
const BEFORE_DOCUMENT: usize = HEAD_BYTES + 5;

/// Sends one command after the other.
pub struct Connection {
    stream: BufReader<TcpStream>,
    request: i32,
}

impl Connection {
    /// Connects.
    pub fn connect(port: u16) -> Outcome<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
        Ok(Connection { stream: BufReader::with_capacity(1 << 16, stream), request: 0 })
    }

    /// Runs a command.
    ///
    /// Errors: also those that the answer names, of the command and of its writes.
    pub fn run(&mut self, database: &str, command: Document) -> Outcome<RawDocumentBuf> {
        self.run_with(database, command, None)
    }

    /// Inserts documents. Shape: as many messages as they need.
    pub fn insert(&mut self, database: &str, collection: &str, documents: &[Document]) -> Outcome<()> {
        for batch in documents.chunks(BATCH) {
            self.run_with(database, doc! { "insert": collection }, Some(("documents", batch)))?;
        }
        Ok(())
    }

    /// Reads all documents that match, in this order.
    pub fn find<T: DeserializeOwned>(
        &mut self,
        database: &str,
        collection: &str,
        filter: Document,
        sort: Document,
    ) -> Outcome<Vec<T>> {
        let mut find = doc! { "find": collection, "filter": filter, "batchSize": BATCH as i32 };
        if !sort.is_empty() {
            find.insert("sort", sort);
        }
        let mut found = Vec::new();
        let mut command = find;
        let mut batch = "firstBatch";
        loop {
            let answer = self.run(database, command)?;
            let cursor = answer.get_document("cursor")?;
            for document in cursor.get_array(batch)? {
                let document = document?.as_document().ok_or("a batch of something else than documents")?;
                found.push(deserialize_from_slice(document.as_bytes())?);
            }
            let id = cursor.get_i64("id")?;
            if id == 0 {
                return Ok(found);
            }
            command = doc! { "getMore": id, "collection": collection, "batchSize": BATCH as i32 };
            batch = "nextBatch";
        }
    }

    fn run_with(
        &mut self,
        database: &str,
        mut command: Document,
        documents: Option<(&str, &[Document])>,
    ) -> Outcome<RawDocumentBuf> {
        command.insert("$db", database);
        self.request += 1;
        let message = message(self.request, &command, documents)?;
        self.stream.get_mut().write_all(&message)?;
        let answer = self.answer()?;
        check(&answer).map_err(|error| {
            let name = command.keys().next().map_or("", String::as_str);
            format!("{database}: {name}: {error}")
        })?;
        Ok(answer)
    }

    fn answer(&mut self) -> Outcome<RawDocumentBuf> {
        let mut head = [0; BEFORE_DOCUMENT];
        self.stream.read_exact(&mut head)?;
        let number = |at: usize| i32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, answered, kind) = (number(0) as usize, number(8), number(12));
        let section = head[BEFORE_DOCUMENT - 1];
        if kind != OP_MSG || section != 0 || answered != self.request {
            return Err(format!(
                "expected an answer to request {}, found one to {answered} of kind {kind}, section {section}",
                self.request
            )
            .into());
        }
        if !(BEFORE_DOCUMENT..=MESSAGE_BYTES_MAX).contains(&length) {
            return Err(format!("expected at most {MESSAGE_BYTES_MAX} bytes, found {length}").into());
        }
        let mut document = vec![0; length - BEFORE_DOCUMENT];
        self.stream.read_exact(&mut document)?;
        Ok(RawDocumentBuf::from_bytes(document)?)
    }
}

/// The bytes of a command. Shape: head, no flags, a section of kind 0 with the command, and one of kind 1 with the documents.
fn message(request: i32, command: &Document, documents: Option<(&str, &[Document])>) -> Outcome<Vec<u8>> {
    let mut bytes = vec![0; HEAD_BYTES + 4];
    bytes.push(0);
    command.to_writer(&mut bytes)?;
    if let Some((name, documents)) = documents {
        bytes.push(1);
        let start = bytes.len();
        bytes.extend([0; 4]);
        bytes.extend(name.bytes().chain([0]));
        for document in documents {
            document.to_writer(&mut bytes)?;
        }
        let length = i32::try_from(bytes.len() - start)?;
        bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(format!("expected at most {MESSAGE_BYTES_MAX} bytes, found {}", bytes.len()).into());
    }
    let length = i32::try_from(bytes.len())?;
    for (place, number) in [length, request, 0, OP_MSG].into_iter().enumerate() {
        bytes[4 * place..][..4].copy_from_slice(&number.to_le_bytes());
    }
    Ok(bytes)
}

/// Errors: if the command or one of its writes failed.
fn check(answer: &RawDocument) -> Outcome<()> {
    let is_ok = answer.get("ok")?.is_some_and(|ok| ok.as_f64() == Some(1.0) || ok.as_i32() == Some(1));
    if !is_ok {
        return Err(answer.get_str("errmsg").unwrap_or("failed without a reason").into());
    }
    match answer.get_array("writeErrors") {
        Ok(errors) => Err(format!("{errors:?}").into()),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_bytes_that_the_protocol_describes() {
        let bytes = message(7, &doc! { "a": 1 }, Some(("d", &[doc! {}]))).unwrap();
        let mut expected = vec![45, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7, 0, 0, 0, 0, 0, 0];
        expected.extend([0, 12, 0, 0, 0, 0x10, b'a', 0, 1, 0, 0, 0, 0]);
        expected.extend([1, 11, 0, 0, 0, b'd', 0, 5, 0, 0, 0, 0]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn failures_of_commands_and_of_writes_are_errors() {
        let answer = |document: Document| RawDocumentBuf::try_from(&document).unwrap();
        assert!(check(&answer(doc! { "ok": 1.0 })).is_ok());
        let failed = check(&answer(doc! { "ok": 0.0, "errmsg": "no such command" })).unwrap_err();
        assert_eq!(failed.to_string(), "no such command");
        let error = doc! { "index": 0, "code": 11000, "errmsg": "duplicate" };
        assert!(check(&answer(doc! { "ok": 1.0, "writeErrors": [error] })).is_err());
    }
}
