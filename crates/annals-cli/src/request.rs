//! A request to the HTTP door, as commands ask it.

use std::fmt::{Display, Write};

use annals::{Error, ErrorKind, Id, Result};
use hyper::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request as HttpRequest};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;

use crate::as_of::AsOfArguments;

/// The characters to encode in a part of a path or a query.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');
/// The media type of lines of JSON.
const NDJSON: &str = "application/x-ndjson";

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    method: Method,
    /// Path and query, percent-encoded.
    target: String,
    accept: Option<&'static str>,
    /// Author and message of a write, percent-encoded.
    signature: Vec<(&'static str, String)>,
    /// The media type of the body, and its bytes, unless they are read while they are sent.
    body: Option<(String, Vec<u8>)>,
    /// The name of the file that is the body, percent-encoded.
    file_name: Option<String>,
    /// True if the server may work on it for any time before it answers.
    pub is_long: bool,
}

impl Request {
    fn new(method: Method, path: &str) -> Request {
        Request {
            method,
            target: path.to_owned(),
            accept: None,
            signature: Vec::new(),
            body: None,
            file_name: None,
            is_long: false,
        }
    }

    /// A read. The path has no characters to encode.
    pub fn get(path: &str) -> Request {
        Request::new(Method::GET, path)
    }

    /// A read of something that belongs to an instance: `collection` is `entities` or `relationships`.
    pub fn get_of(collection: &str, id: &Id, rest: &str) -> Request {
        let id = id.to_string();
        let id = utf8_percent_encode(&id, PART);
        Request::get(&format!("/v1/{collection}/{id}{rest}"))
    }

    /// The same about a part of a path that has a name.
    #[must_use]
    pub fn of_part(mut self, name: &str, rest: &str) -> Request {
        let _ = write!(self.target, "{}{rest}", utf8_percent_encode(name, PART));
        self
    }

    /// The same as a write with a body in JSON.
    #[must_use]
    pub fn posted(self, body: &Json) -> Request {
        let body = Some(("application/json".to_owned(), body.to_string().into_bytes()));
        Request { method: Method::POST, body, ..self }
    }

    /// The same as a write with a method and a body that is read while it is sent.
    #[must_use]
    pub fn uploading(self, method: Method, media_type: &str, file_name: Option<&str>) -> Request {
        let file_name = file_name.map(|name| utf8_percent_encode(name, PART).to_string());
        Request { method, body: Some((media_type.to_owned(), Vec::new())), file_name, is_long: true, ..self }
    }

    /// The same as a write without a body.
    #[must_use]
    pub fn posted_empty(self) -> Request {
        Request { method: Method::POST, ..self }
    }

    /// The same as a deletion.
    #[must_use]
    pub fn deleted(self) -> Request {
        Request { method: Method::DELETE, ..self }
    }

    /// A request with a body in JSON.
    pub fn post(path: &str, body: &Json) -> Request {
        Request::get(path).posted(body)
    }

    /// With a parameter of the query.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Display) -> Request {
        let mark = if self.target.contains('?') { '&' } else { '?' };
        let value = value.to_string();
        let _ = write!(self.target, "{mark}{name}={}", utf8_percent_encode(&value, PART));
        self
    }

    /// With each of these values, if there are any.
    #[must_use]
    pub fn with_all(self, name: &str, values: impl IntoIterator<Item = impl Display>) -> Request {
        values.into_iter().fold(self, |request, value| request.with(name, value))
    }

    /// With a flag, if it is set.
    #[must_use]
    pub fn flag(self, name: &str, is_set: bool) -> Request {
        if is_set { self.with(name, true) } else { self }
    }

    /// Asks for the answer as lines.
    #[must_use]
    pub fn lines(self) -> Request {
        Request { accept: Some(NDJSON), ..self }
    }

    /// Waits for the answer as long as the server lives.
    #[must_use]
    pub fn patient(self) -> Request {
        Request { is_long: true, ..self }
    }

    /// Signed by an author, with a message.
    #[must_use]
    pub fn signed(mut self, author: Option<&str>, message: &str) -> Request {
        let headers = [("annals-author", author.unwrap_or_default()), ("annals-message", message)];
        let given = headers.into_iter().filter(|(_, text)| !text.is_empty());
        self.signature.extend(given.map(|(name, text)| (name, utf8_percent_encode(text, PART).to_string())));
        self
    }

    /// Reads as of a time.
    #[must_use]
    pub fn read_at(self, time: &AsOfArguments) -> Request {
        self.known_at(time).with_all("validAt", time.valid_at)
    }

    /// Reads what was known at a time, whatever was true then.
    #[must_use]
    pub fn known_at(self, time: &AsOfArguments) -> Request {
        self.with_all("atPosition", time.at_position).with_all("at", time.at)
    }

    /// The head, and the body. `host` is the name of the server.
    ///
    /// Errors: `InvalidArgument` if the arguments make an address that is too long, or another wrong header.
    pub fn into_http(self, host: &str) -> Result<(HttpRequest<()>, Vec<u8>)> {
        let mut request = HttpRequest::builder().method(self.method).uri(self.target).header(HOST, host);
        for (name, text) in self.signature {
            request = request.header(name, text);
        }
        if let Some(accept) = self.accept {
            request = request.header(ACCEPT, HeaderValue::from_static(accept));
        }
        if let Some(name) = self.file_name {
            request = request.header(CONTENT_DISPOSITION, format!("attachment; filename*=UTF-8''{name}"));
        }
        let body = match self.body {
            Some((media_type, body)) => {
                request = request.header(CONTENT_TYPE, media_type);
                body
            }
            None => Vec::new(),
        };
        let head = request.body(()).map_err(|error| {
            let text = format!("arguments: they make no request: {error}; give shorter ones");
            Error::new(ErrorKind::InvalidArgument, text)
        })?;
        Ok((head, body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_encoded() {
        let id = Id::new("a/b ?ä").unwrap();
        let request = Request::get_of("entities", &id, "/reach").with("type", "x&y").flag("content", true);
        let request = request.flag("purge", false).with_all("at", None::<&str>);
        let (head, body) = request.into_http("localhost").unwrap();
        assert_eq!(head.uri(), "/v1/entities/a%2Fb%20%3F%C3%A4/reach?type=x%26y&content=true");
        assert!(body.is_empty());
        let long = Request::get("/v1/find").with("q", "x".repeat(1 << 17)).into_http("localhost");
        assert_eq!(long.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}
