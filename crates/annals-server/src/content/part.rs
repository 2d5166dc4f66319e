//! Parts of a content, as the headers `Range` and `Content-Range` name them (RFC 9110, section 14).

use http::HeaderValue;
use http_range_header::parse_range_header;

/// The part of a content that an answer has. Units: bytes.
pub struct Part {
    /// Where it begins.
    pub start: u64,
    /// How long it is.
    pub length: u64,
    /// True for all bytes that there are.
    pub is_whole: bool,
}

impl Part {
    /// The part of `size` bytes that a header `Range` asks for; `None` if there is no such part. Several ranges at once are
    /// answered with the whole, as RFC 9110 allows.
    pub fn of(range: Option<&HeaderValue>, size: u64) -> Option<Part> {
        let whole = Part { start: 0, length: size, is_whole: true };
        // A malformed header, or another unit, is ignored.
        let parsed = range.and_then(|range| parse_range_header(range.to_str().ok()?).ok());
        let Some(parsed) = parsed else { return Some(whole) };
        Some(match &parsed.validate(size).ok()?[..] {
            [one] => Part { start: *one.start(), length: one.end() - one.start() + 1, is_whole: false },
            _ => whole,
        })
    }

    /// As the header `Content-Range` of a part of `size` bytes.
    pub fn range_of(&self, size: u64) -> HeaderValue {
        let range = format!("bytes {}-{}/{size}", self.start, self.start + self.length - 1);
        HeaderValue::try_from(range).expect("digits are valid in a header")
    }

    /// The header `Content-Range` if `size` bytes have no such part.
    pub fn none_of(size: u64) -> HeaderValue {
        HeaderValue::try_from(format!("bytes */{size}")).expect("digits are valid in a header")
    }
}
