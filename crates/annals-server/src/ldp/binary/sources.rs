//! Reads external contents from where they are: files below allowed folders, and addresses below allowed ones. Nothing
//! else can be read, and every read has bounds in time and bytes.

use std::io::SeekFrom;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_util::stream;
use http::header::{
    ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue,
    LAST_MODIFIED, RANGE, VIA,
};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustix::fs::{self, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::source_url::{SourcePrefix, SourceUrl};
use crate::content::part::Part;
use crate::protocol::header_text::{content_length, text, texts};

/// The name by which the server tells its own requests. It refuses to answer one of them with an external content, which
/// may lead back to itself.
const PSEUDONYM: &str = "annals-external";
/// Longest time for a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Attempts to open a file while links on its path change.
const ATTEMPTS_MAX: usize = 3;
/// Units: bytes read at once from a file.
const PIECE_BYTES: usize = 64 << 10;

/// Where external contents may be, and the client that reads them.
#[derive(Clone, Debug)]
pub struct Sources {
    prefixes: Arc<[SourcePrefix]>,
    /// Largest external content. Units: bytes.
    bytes_max: u64,
    http: Client<HttpConnector, Empty<Bytes>>,
}

/// An external content that is being read.
pub struct Opened {
    /// 200, 206 or 416.
    pub status: StatusCode,
    /// The number of bytes of the answer, if it is known.
    pub size: Option<u64>,
    /// The media type, if the source says it.
    pub media_type: Option<String>,
    /// The header of the source on ranges, to be passed on.
    pub ranges: HeaderMap,
    /// The version of the source: two reads with the same one gave the same bytes, if the source says versions.
    pub version: (Option<HeaderValue>, Option<HeaderValue>, Option<u64>),
    /// The bytes. They end with an error if the source breaks off, stands still, or has too many of them.
    pub body: Body,
}

/// How to read.
pub struct Reading<'r> {
    /// GET or HEAD.
    pub method: Method,
    /// The part that is wanted.
    pub range: Option<&'r HeaderValue>,
    /// Longest time to the head of the answer, and to each part of its body.
    pub time: Duration,
}

/// True if a request comes from such a server, so that an external content may lead in a circle.
pub fn is_own_request(headers: &HeaderMap) -> bool {
    texts(headers, &VIA).flat_map(|value| value.split(',')).any(|part| part.trim().ends_with(PSEUDONYM))
}

impl Sources {
    /// Sources below these prefixes.
    pub fn new(prefixes: Vec<SourcePrefix>, bytes_max: u64) -> Sources {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_TIME));
        // A connection for each read: a kept one may be closed by the source just when it is used again.
        let http = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector);
        Sources { prefixes: prefixes.into(), bytes_max, http }
    }

    /// True if external contents are allowed at all.
    pub fn are_allowed(&self) -> bool {
        !self.prefixes.is_empty()
    }

    /// Largest external content. Units: bytes.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// The address in one form, if it is allowed.
    ///
    /// Errors: a text that says why not.
    pub fn allowed(&self, url: &str) -> Result<SourceUrl, String> {
        if !self.are_allowed() {
            return Err("the server takes no external contents; see its option --ldp-external".into());
        }
        let url: SourceUrl = url.parse()?;
        if self.prefixes.iter().any(|prefix| prefix.has(&url)) {
            return Ok(url);
        }
        Err("the address is below none of the prefixes of the server (--ldp-external)".into())
    }

    /// Opens an allowed address.
    ///
    /// Errors: a text that says what is wrong with the source.
    pub async fn open(&self, url: &SourceUrl, reading: Reading<'_>) -> Result<Opened, String> {
        match url.file() {
            Some(path) => self.open_file(path, &reading).await,
            None => self.open_http(url, &reading).await,
        }
    }

    async fn open_http(&self, url: &SourceUrl, reading: &Reading<'_>) -> Result<Opened, String> {
        let mut request = Request::builder()
            .method(&reading.method)
            .uri(url.to_string())
            .header(VIA, format!("1.1 {PSEUDONYM}"));
        if let Some(range) = reading.range {
            request = request.header(RANGE, range);
        }
        let request = request.body(Empty::new()).map_err(|error| error.to_string())?;
        let answer = tokio::time::timeout(reading.time, self.http.request(request)).await;
        let answer = answer.map_err(|_| format!("the source did not answer within {:?}", reading.time))?;
        let answer = answer.map_err(|error| format!("the source did not answer: {}", chain(&error)))?;
        let (head, body) = answer.into_parts();
        let is_expected = match head.status {
            StatusCode::OK => true,
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => reading.range.is_some(),
            _ => false,
        };
        if !is_expected {
            // A redirect too: it may lead out of the prefixes.
            return Err(format!("the source answered {}; expected its bytes", head.status));
        }
        if let Some(encoding) = head.headers.get(CONTENT_ENCODING) {
            return Err(format!("the source answered in the encoding {encoding:?}; expected none"));
        }
        let size = content_length(&head.headers);
        self.check_size(size)?;
        let mut ranges = HeaderMap::new();
        for name in [ACCEPT_RANGES, CONTENT_RANGE] {
            ranges.extend(head.headers.get(&name).map(|value| (name, value.clone())));
        }
        let value = |name| head.headers.get(name).cloned();
        Ok(Opened {
            status: head.status,
            size,
            media_type: text(&head.headers, &CONTENT_TYPE).map(str::to_owned),
            ranges,
            version: (value(ETAG), value(LAST_MODIFIED), size),
            body: flow(body, self.bytes_max, reading.time),
        })
    }

    fn check_size(&self, size: Option<u64>) -> Result<(), String> {
        match size {
            Some(size) if size > self.bytes_max => {
                Err(format!("the source has {size} bytes; expected at most {}", self.bytes_max))
            }
            _ => Ok(()),
        }
    }

    async fn open_file(&self, path: std::path::PathBuf, reading: &Reading<'_>) -> Result<Opened, String> {
        let folders: Vec<_> = self.prefixes.iter().filter_map(SourcePrefix::folder).collect();
        let found = tokio::task::spawn_blocking(move || find_file(&path, &folders)).await;
        let (file, size, modified) = found.map_err(|error| error.to_string())??;
        self.check_size(Some(size))?;
        let mut ranges = HeaderMap::from_iter([(ACCEPT_RANGES, HeaderValue::from_static("bytes"))]);
        let opened = |status, ranges, size, body| Opened {
            status,
            size: Some(size),
            media_type: None,
            ranges,
            version: (None, modified, Some(size)),
            body,
        };
        let Some(part) = Part::of(reading.range, size) else {
            ranges.insert(CONTENT_RANGE, Part::none_of(size));
            return Ok(opened(StatusCode::RANGE_NOT_SATISFIABLE, ranges, 0, Body::empty()));
        };
        let status = if part.is_whole { StatusCode::OK } else { StatusCode::PARTIAL_CONTENT };
        if !part.is_whole {
            ranges.insert(CONTENT_RANGE, part.range_of(size));
        }
        let body = match reading.method == Method::HEAD {
            true => Body::empty(),
            false => read(tokio::fs::File::from_std(file), part.start, part.length).await?,
        };
        Ok(opened(status, ranges, part.length, body))
    }
}

/// Opens a file if it is below one of the folders, wherever symbolic links lead. Shape: the file, its size, and when it
/// was written.
fn find_file(
    path: &std::path::Path,
    folders: &[std::path::PathBuf],
) -> Result<(std::fs::File, u64, Option<HeaderValue>), String> {
    let of_system = |error: std::io::Error| format!("the source cannot be read: {error}");
    // A link that is replaced just now makes an attempt fail.
    let mut attempts_left = ATTEMPTS_MAX;
    let file = loop {
        attempts_left -= 1;
        let real = path.canonicalize().map_err(of_system)?;
        let below = folders.iter().filter_map(|folder| {
            let folder = folder.canonicalize().ok()?;
            Some((real.strip_prefix(&folder).ok()?.to_owned(), folder))
        });
        let Some((below, folder)) = below.into_iter().next() else {
            return Err(
                "the file is a link that leads out of the prefixes of the server (--ldp-external)".into()
            );
        };
        match open_beneath(&folder, &below) {
            Ok(file) => break file,
            Err(error) if attempts_left == 0 => return Err(of_system(error)),
            Err(_) => {}
        }
    };
    let metadata = file.metadata().map_err(of_system)?;
    if !metadata.is_file() {
        return Err("the source is no file".into());
    }
    let modified = metadata.modified().ok().map(httpdate::fmt_http_date);
    Ok((file, metadata.len(), modified.and_then(|modified| modified.try_into().ok())))
}

/// Opens a file below a folder by a path without links. If a part of the path is a link by now, it opens nothing:
/// somebody who may write there could lead the server out of the folder between the check and the opening.
fn open_beneath(folder: &std::path::Path, below: &std::path::Path) -> std::io::Result<std::fs::File> {
    let folder = fs::open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    // Without waiting: opening a pipe would wait for its other end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let ways = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // "." is the folder itself.
    let below = if below.as_os_str().is_empty() { std::path::Path::new(".") } else { below };
    fs::openat2(folder, below, flags, Mode::empty(), ways).map(Into::into).map_err(explain)
}

/// The error of a system, with what helps if it has no `openat2`.
fn explain(error: Errno) -> std::io::Error {
    if error != Errno::NOSYS {
        return error.into();
    }
    let text = "expected the system call openat2, which keeps the opening of a file in its folder, found none; use Linux 5.6 or \
                later, and let a filter of system calls allow it, or serve the folder over http and name its address in \
                --ldp-external";
    std::io::Error::new(std::io::ErrorKind::Unsupported, text)
}

/// A part of a file as a body.
async fn read(mut file: tokio::fs::File, start: u64, length: u64) -> Result<Body, String> {
    file.seek(SeekFrom::Start(start)).await.map_err(|error| error.to_string())?;
    let parts = stream::unfold((Some(file), length), |(file, left)| async move {
        let mut file = file.filter(|_| left > 0)?;
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        let mut piece = vec![0; wanted];
        match file.read_exact(&mut piece).await {
            Ok(_) => Some((Ok(Bytes::from(piece)), (Some(file), left - wanted as u64))),
            // Cut off, so that no client takes it for the whole.
            Err(error) => Some((Err(error), (None, 0))),
        }
    });
    Ok(Body::from_stream(parts))
}

/// The body of an answer, with bounds.
fn flow(body: Incoming, bytes_max: u64, time: Duration) -> Body {
    Body::from_stream(stream::unfold((Some(body), bytes_max), move |(body, left)| async move {
        let mut body = body?;
        loop {
            let frame = match tokio::time::timeout(time, body.frame()).await {
                Ok(frame) => frame?,
                Err(_) => return Some((Err(format!("the source stood still for {time:?}")), (None, 0))),
            };
            let data = match frame.map(http_body::Frame::into_data) {
                Ok(Ok(data)) => data,
                Ok(Err(_)) => continue,
                Err(error) => {
                    return Some((Err(format!("the source broke off: {}", chain(&error))), (None, 0)));
                }
            };
            return match left.checked_sub(data.len() as u64) {
                Some(left) => Some((Ok(data), (Some(body), left))),
                None => Some((Err(format!("the source has more than {bytes_max} bytes")), (None, 0))),
            };
        }
    }))
}

/// An error with its reasons.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_openat2_is_told_with_what_helps() {
        let told = explain(Errno::NOSYS).to_string();
        assert!(told.contains("Linux 5.6") && told.contains("serve the folder over http"), "{told}");
        assert_eq!(explain(Errno::LOOP).raw_os_error(), Some(Errno::LOOP.raw_os_error()));
    }
}
