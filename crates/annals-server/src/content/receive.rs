//! Receives a binary of any size into the store of contents, while it arrives.

use std::sync::Arc;

use annals::{NewContent, StoredContent};
use axum::body::Body;
use http::HeaderMap;
use http::header::{CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_TYPE, EXPECT};

use super::digests;
use crate::bounds::limits::UPLOADS_MAX;
use crate::bounds::peers::{Kind, Peer, enter};
use crate::protocol::header_text::content_length;
use crate::protocol::problem::Problem;
use crate::protocol::query::decode_percent;
use crate::request::door::Door;
use crate::request::upload::{discard, upload};

/// The headers of a request about its body: media type, file name, length and digests.
///
/// Errors: `invalid-argument`.
pub fn about(headers: &HeaderMap) -> Result<NewContent, Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str().map(str::trim)).transpose();
    let media_type =
        text(CONTENT_TYPE).map_err(|_| Problem::invalid("header content-type: expected ASCII"))?;
    let mut about = media_type.map_or_else(NewContent::default, NewContent::of);
    about.name = file_name(headers)?;
    about.size = content_length(headers);
    about.expected = digests::stated(headers)?;
    Ok(about)
}

/// The file name of `Content-Disposition`: `filename*` with percent-encoded UTF-8, or `filename`. Folders are cut off.
fn file_name(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(CONTENT_DISPOSITION) else { return Ok(None) };
    let invalid = || {
        let text =
            "header content-disposition: expected attachment; filename=\"scan.tif\", or filename*=UTF-8''…";
        Problem::invalid(text).with("header", CONTENT_DISPOSITION.as_str())
    };
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| invalid())?;
    let (mut plain, mut encoded) = (None, None);
    for (name, value) in parameters(text) {
        match &*name.to_ascii_lowercase() {
            "filename" => plain = Some(value),
            "filename*" => {
                // A charset, a language that may be empty, and the name.
                let rest = value.splitn(3, '\'').nth(2).ok_or_else(invalid)?;
                encoded = Some(decode_percent(rest, CONTENT_DISPOSITION.as_str())?);
            }
            _ => {}
        }
    }
    let last = |name: String| name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    Ok(encoded.or(plain).map(last).filter(|name| !["", ".", ".."].contains(&&**name)))
}

/// The parameters of a header behind its first part. A value may be in quotes, with backslashes before quotes in it.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut parameters = vec![String::new()];
    let (mut is_quoted, mut is_escaped) = (false, false);
    for character in text.chars() {
        match character {
            // Browsers write paths of Windows without a further backslash, so only a quote can be escaped.
            '"' if is_escaped => {
                let part = parameters.last_mut().expect("there is one");
                part.pop();
                part.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ';' if !is_quoted => parameters.push(String::new()),
            _ => parameters.last_mut().expect("there is one").push(character),
        }
        is_escaped = is_quoted && character == '\\' && !is_escaped;
    }
    let pairs = parameters.iter().skip(1).filter_map(|parameter| parameter.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

/// Refuses a body that is only a part of a content: it would replace all of it.
///
/// Errors: `invalid-argument`. Source: RFC 9110, section 14.5.
pub fn refuse_part(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.get(CONTENT_RANGE) {
        None => Ok(()),
        Some(_) => {
            let text = "header content-range: expected none, because a body replaces the whole content; send all bytes";
            Err(Problem::invalid(text).with("header", CONTENT_RANGE.as_str()))
        }
    }
}

/// Stores a body durably. After an error nothing is stored; a client that waits for `100 Continue` gets the error before
/// it sends anything.
///
/// Errors: `busy` if too many bodies arrive; `digest-mismatch`; `slow-request`; `invalid-argument`; `no-room`; `io`.
pub async fn receive(
    door: &Arc<Door>,
    headers: &HeaderMap,
    mut body: Body,
    about: NewContent,
    peer: &Arc<Peer>,
) -> Result<StoredContent, Problem> {
    refuse_part(headers)?;
    let outcome = store(door, &mut body, about, peer).await;
    if outcome.is_err() && !headers.contains_key(EXPECT) {
        discard(&mut body).await;
    }
    outcome
}

/// The same, of bytes that no client sends.
pub async fn store(
    door: &Arc<Door>,
    body: &mut Body,
    about: NewContent,
    peer: &Arc<Peer>,
) -> Result<StoredContent, Problem> {
    let repository = door.repository()?;
    repository.check_writer()?;
    let contents = repository.contents()?;
    let held = enter(&door.bounds.gates.uploads, (peer, Kind::Uploads, UPLOADS_MAX), || {
        format!("{UPLOADS_MAX} contents are being received; try again later")
    })?;
    let (inlet, mut upload) = upload();
    let running = tokio::task::spawn_blocking(move || {
        // Released when the work is done, also if the client goes earlier.
        let _held = held;
        contents.put(&mut upload, &about)
    });
    let received = inlet.receive(&door.bounds, door.stopping(), body).await;
    let stored = match running.await {
        Ok(stored) => stored,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    };
    // The reason why the body ended is more useful than the error that it ended.
    received?;
    Ok(stored?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn file_names_are_read_without_their_folders() {
        for (value, expected) in [
            ("attachment; filename=\"scan 1.tif\"", Some("scan 1.tif")),
            ("attachment; filename=../../etc/passwd", Some("passwd")),
            ("attachment; filename=a.txt; filename*=UTF-8''%C3%A4.txt", Some("ä.txt")),
            ("attachment; filename=\"a;b.txt\"; size=1", Some("a;b.txt")),
            ("attachment; filename=\"say \\\"hi\\\".txt\"", Some("say \"hi\".txt")),
            ("attachment; filename=\"C:\\\\scans\\a.tif\"", Some("a.tif")),
            ("attachment; filename*=utf-8'en'x%20y.txt", Some("x y.txt")),
            ("attachment; filename=..", None),
            ("inline", None),
        ] {
            let headers =
                HeaderMap::from_iter([(CONTENT_DISPOSITION, HeaderValue::from_str(value).unwrap())]);
            assert_eq!(file_name(&headers).unwrap().as_deref(), expected, "{value}");
        }
        let wrong = HeaderMap::from_iter([(CONTENT_DISPOSITION, HeaderValue::from_static("a; filename*=x"))]);
        assert!(file_name(&wrong).is_err());
    }
}
