//! Finds the end of an answer of HTTP/1.1 in the bytes that have come so far.

use std::borrow::Cow;

use memchr::memmem;

/// Longest head of an answer. Units: bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Longest body of an answer. Units: bytes.
const BODY_BYTES_MAX: usize = 64 << 20;

/// A whole answer.
#[derive(Debug, PartialEq)]
pub struct Answer<'b> {
    pub status: u16,
    /// Without the lines of chunks.
    pub body: Cow<'b, [u8]>,
    /// Head and body. Units: bytes.
    pub length: usize,
    /// True if the server closes the connection after it.
    pub is_last: bool,
    /// True if it says when to ask again.
    pub has_retry_after: bool,
}

impl Answer<'_> {
    /// True if the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// The answer at the beginning of `bytes`; None if its end has not come yet.
///
/// Errors: if the bytes are no answer with a known length.
pub fn read_answer(bytes: &[u8]) -> Result<Option<Answer<'_>>, String> {
    let Some(head_length) = memmem::find(bytes, b"\r\n\r\n") else {
        return match bytes.len() {
            length if length > HEAD_BYTES_MAX => {
                Err(format!("expected a head of at most {HEAD_BYTES_MAX} bytes, found a longer one"))
            }
            _ => Ok(None),
        };
    };
    let (head, rest) = (&bytes[..head_length], &bytes[head_length + 4..]);
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let status = first.strip_prefix(b"HTTP/1.").and_then(|rest| number(rest.get(2..5)?, 10));
    let status = status.ok_or_else(|| {
        format!("expected an answer of HTTP/1.1, found {:?}", String::from_utf8_lossy(first).trim_end())
    })?;
    let (mut length, mut is_chunked) = (None, false);
    let (mut is_last, mut has_retry_after) = (first.starts_with(b"HTTP/1.0"), false);
    for line in lines {
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        match name.len() {
            14 if name.eq_ignore_ascii_case(b"content-length") => length = number(value, 10),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                is_chunked = value.eq_ignore_ascii_case(b"chunked");
            }
            10 if name.eq_ignore_ascii_case(b"connection") => {
                is_last |= value.eq_ignore_ascii_case(b"close");
            }
            11 if name.eq_ignore_ascii_case(b"retry-after") => has_retry_after = true,
            _ => {}
        }
    }
    let status = u16::try_from(status).map_err(|_| "expected a status, found a larger number")?;
    let found = match (is_chunked, length) {
        (true, _) => chunks(rest)?.map(|(body, length)| (Cow::Owned(body), length)),
        (false, None) if status == 204 || status == 304 => Some((Cow::Borrowed(&rest[..0]), 0)),
        (false, None) => return Err("expected an answer with its length, found none".into()),
        (false, Some(length)) if length > BODY_BYTES_MAX => {
            return Err(format!("expected a body of at most {BODY_BYTES_MAX} bytes, found {length}"));
        }
        (false, Some(length)) => rest.get(..length).map(|body| (Cow::Borrowed(body), length)),
    };
    Ok(found.map(|(body, length)| {
        let length = head_length + 4 + length;
        Answer { status, body, length, is_last, has_retry_after }
    }))
}

/// The body in chunks, and its length with the lines around them; None if its end has not come yet.
fn chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, String> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let Some(end) = memchr::memchr(b'\n', &bytes[at..]) else { return Ok(None) };
        let line = bytes[at..at + end].split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let length = number(line, 16).filter(|length| body.len() + length <= BODY_BYTES_MAX);
        let length = length.ok_or("expected the length of a chunk, found another line")?;
        at += end + 1;
        if length == 0 {
            // Trailers are not read: no server of the lab sends them.
            return Ok(bytes.get(at..at + 2).map(|_| (body, at + 2)));
        }
        let Some(chunk) = bytes.get(at..at + length) else { return Ok(None) };
        body.extend_from_slice(chunk);
        // The end of the line behind the chunk.
        at += length + 2;
        if at > bytes.len() {
            return Ok(None);
        }
    }
}

fn number(digits: &[u8], radix: u32) -> Option<usize> {
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_whole_with_its_last_byte_and_not_before() {
        let plain = b"HTTP/1.1 201 Created\r\nCONTENT-LENGTH: 3\r\n\r\nabc".to_vec();
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n"
                .to_vec();
        for whole in [plain, chunked] {
            for length in 0..whole.len() {
                assert_eq!(read_answer(&whole[..length]), Ok(None), "{length} bytes");
            }
            let more = [&whole[..], b"HTTP"].concat();
            let answer = read_answer(&more).unwrap().unwrap();
            assert_eq!((&*answer.body, answer.length), (&b"abc"[..], whole.len()));
            assert!(answer.is_success() && !answer.is_last && !answer.has_retry_after);
        }
    }

    #[test]
    fn a_refusal_says_that_it_is_the_last_answer_and_when_to_ask_again() {
        let refusal =
            b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n";
        let answer = read_answer(refusal).unwrap().unwrap();
        assert!(answer.status == 503 && answer.is_last && answer.has_retry_after && !answer.is_success());
        let none = read_answer(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap().unwrap();
        assert_eq!((none.status, none.body.len()), (204, 0));
    }

    #[test]
    fn bytes_that_are_no_answer_are_an_error() {
        for text in [
            "SSH-2.0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        ] {
            assert!(read_answer(text.as_bytes()).is_err(), "{text}");
        }
        assert!(read_answer(&vec![b'x'; HEAD_BYTES_MAX + 1]).is_err());
    }
}
