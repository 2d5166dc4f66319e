//! Addresses of external contents, in one form, and the prefixes below which the server may read them.
//!
//! A prefix is compared with an address only after both have one form. An address that a server could read in two ways, such as dots
//! that are encoded, has no such form and is refused.

use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;

/// Longest address. Units: bytes.
const URL_BYTES_MAX: usize = 4_096;
/// The port of `http` addresses without one.
const HTTP_PORT: u16 = 80;

/// The address of an external content: `http://images.example/a/1.png?size=full`, `file:///srv/scans/1.tif`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceUrl {
    /// Host and port; `None` for a file.
    authority: Option<String>,
    /// Begins with a slash; percent-encoded in one form.
    path: String,
    query: Option<String>,
}

/// An address with everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePrefix {
    url: SourceUrl,
    /// True if it names a host and no port: then each port of that host is below it.
    has_any_port: bool,
}

impl FromStr for SourceUrl {
    type Err = String;

    /// Reads an address, and gives it one form: small letters in scheme and host, no default port, nothing encoded that
    /// need not be.
    ///
    /// Errors: a text that says what is expected.
    fn from_str(text: &str) -> Result<SourceUrl, String> {
        if text.len() > URL_BYTES_MAX {
            return Err(format!("expected at most {URL_BYTES_MAX} bytes, found {}", text.len()));
        }
        if let Some(found) = text.chars().find(|character| !is_usual(*character)) {
            return Err(format!("expected no {found:?}; percent-encode it, and leave out the fragment"));
        }
        let (scheme, rest) = text.split_once(':').ok_or_else(unknown_scheme)?;
        match &*scheme.to_ascii_lowercase() {
            "http" => {
                let rest = rest.strip_prefix("//").ok_or_else(unknown_scheme)?;
                let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
                let (path, query) = match rest.split_once('?') {
                    Some((path, query)) => (path, Some(query)),
                    None => (rest, None),
                };
                check_percents(query.unwrap_or_default())?;
                Ok(SourceUrl {
                    authority: Some(authority_of(authority)?),
                    path: path_of(path)?,
                    query: query.map(str::to_owned),
                })
            }
            "file" => {
                // Java writes `file:/srv`.
                let path = match rest.strip_prefix("//") {
                    Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
                    None => rest,
                };
                if !path.starts_with('/') || path.contains('?') {
                    return Err("expected a file such as file:///srv/scans/1.tif".into());
                }
                Ok(SourceUrl { authority: None, path: path_of(path)?, query: None })
            }
            _ => Err(unknown_scheme()),
        }
    }
}

impl Display for SourceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.authority {
            Some(authority) => write!(f, "http://{authority}{}", self.path)?,
            None => write!(f, "file://{}", self.path)?,
        }
        self.query.as_ref().map_or(Ok(()), |query| write!(f, "?{query}"))
    }
}

impl SourceUrl {
    /// The path of the file; `None` for an address of HTTP.
    pub fn file(&self) -> Option<PathBuf> {
        let bytes: Vec<u8> = percent_encoding::percent_decode_str(&self.path).collect();
        self.authority.is_none().then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
    }
}

impl FromStr for SourcePrefix {
    type Err = String;

    /// Reads a prefix as `--ldp-external` takes it: `http://images.example/public/`, `file:///srv/scans`. A slash at its
    /// end changes nothing. Without a port it is about every port of the host.
    fn from_str(text: &str) -> Result<SourcePrefix, String> {
        let mut url: SourceUrl = text.parse()?;
        if url.query.is_some() {
            return Err(format!("expected an address without '?', found {text:?}"));
        }
        while url.path.len() > 1 && url.path.ends_with('/') {
            url.path.pop();
        }
        let authority = text.split('/').nth(2).unwrap_or_default();
        let has_any_port = url.authority.is_some() && host_of(authority) == authority;
        Ok(SourcePrefix { url, has_any_port })
    }
}

impl SourcePrefix {
    /// True if an address is the prefix, or below it.
    pub fn has(&self, url: &SourceUrl) -> bool {
        let SourcePrefix { url: prefix, has_any_port } = self;
        let is_below = |rest: &str| rest.is_empty() || rest.starts_with('/') || prefix.path == "/";
        let place = |url: &SourceUrl| match &url.authority {
            Some(authority) if *has_any_port => Some(host_of(authority).to_owned()),
            authority => authority.clone(),
        };
        place(prefix) == place(url) && url.path.strip_prefix(&prefix.path).is_some_and(is_below)
    }

    /// The folder; `None` for an address of HTTP.
    pub fn folder(&self) -> Option<PathBuf> {
        self.url.file()
    }
}

fn unknown_scheme() -> String {
    "expected an address that begins with http:// or file:///; for https put a proxy in between".into()
}

/// True for the characters that an address may have.
fn is_usual(character: char) -> bool {
    character.is_ascii_graphic() && !"\"#<>\\^`{|}".contains(character)
}

/// The host of a host with a port or without one.
fn host_of(authority: &str) -> &str {
    let address_end = authority.find(']').map_or(0, |at| at + 1);
    let end = authority[address_end..].find(':').map_or(authority.len(), |at| address_end + at);
    &authority[..end]
}

/// Host and port in one form.
fn authority_of(text: &str) -> Result<String, String> {
    let invalid = || format!("expected a host and perhaps a port, without user and password, found {text:?}");
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => {
            let address: std::net::Ipv6Addr = address.parse().map_err(|_| invalid())?;
            (format!("[{address}]"), rest)
        }
        None => {
            let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            if host.is_empty() || !host.bytes().all(is_name) {
                return Err(invalid());
            }
            (host.to_ascii_lowercase(), port)
        }
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => HTTP_PORT,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map_err(|_| invalid())?
        }
        _ => return Err(invalid()),
    };
    Ok(if port == HTTP_PORT { host } else { format!("{host}:{port}") })
}

/// A path in one form.
fn path_of(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Ok("/".to_owned());
    }
    check_percents(text)?;
    for segment in text.split('/') {
        check_segment(segment)?;
    }
    let mut path = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        path.push_str(before);
        let (digits, after) = after.split_at(2);
        let byte = u8::from_str_radix(digits, 16).expect("percents are checked");
        // Letters that need no encoding get none.
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
        rest = after;
    }
    path.push_str(rest);
    Ok(path)
}

fn check_percents(text: &str) -> Result<(), String> {
    let is_digits =
        |part: &str| part.get(..2).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if text.split('%').skip(1).all(is_digits) {
        return Ok(());
    }
    Err(format!("expected two hexadecimal digits behind each '%', found {text:?}"))
}

/// Refuses a segment that another server may read as several, or as a step upwards: some decode twice, and some cut off
/// what is behind a semicolon.
fn check_segment(segment: &str) -> Result<(), String> {
    let mut bytes = segment.as_bytes().to_vec();
    loop {
        let name = bytes.split(|byte| *byte == b';').next().unwrap_or_default();
        let is_strange = |byte: &u8| matches!(byte, b'/' | b'\\' | 0..=31 | 127);
        if name == b"." || name == b".." || bytes.iter().any(is_strange) {
            return Err(format!("expected no steps such as . or .., no slashes in names, found {segment:?}"));
        }
        let decoded: Vec<u8> = percent_encoding::percent_decode(&bytes).collect();
        if decoded == bytes {
            return Ok(());
        }
        bytes = decoded;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        for (text, form) in [
            ("HTTP://Images.Example:80/a/%7euser/%c3%a4?x=%2F", "http://images.example/a/~user/%C3%A4?x=%2F"),
            ("http://images.example", "http://images.example/"),
            ("http://images.example?x", "http://images.example/?x"),
            ("http://[::1]:8080/a", "http://[::1]:8080/a"),
            ("http://[0:0::1]:080/100%25", "http://[::1]/100%25"),
            ("file:/srv/a%20b", "file:///srv/a%20b"),
            ("file://localhost/srv/a", "file:///srv/a"),
        ] {
            assert_eq!(text.parse::<SourceUrl>().unwrap().to_string(), form);
        }
        let file: SourceUrl = "file:///srv/a%20b".parse().unwrap();
        assert_eq!(file.file(), Some(PathBuf::from("/srv/a b")));
    }

    #[test]
    fn addresses_that_can_be_read_in_two_ways_are_refused() {
        for text in [
            "",
            "images",
            "https://images.example/a",
            "ftp://images.example/a",
            "http:images.example/a",
            "http://",
            "http://user@images.example/a",
            "http://images.example@evil.example/a",
            "http://images.example:80:80/a",
            "http://images.example:99999/a",
            "http://images.example:+80/a",
            "http://[::1/a",
            "http://[::1]x/a",
            "http://images.example\\@evil.example/a",
            "http://images.example/public/../secret",
            "http://images.example/public/./a",
            "http://images.example/public/%2e%2E/secret",
            "http://images.example/public/.%2e/secret",
            "http://images.example/public/%252e%252e/secret",
            "http://images.example/public/..;x/secret",
            "http://images.example/public/..%3Bx/secret",
            "http://images.example/public%2F..%2Fsecret",
            "http://images.example/public%5c..%5csecret",
            "http://images.example/public\\..\\secret",
            "http://images.example/a%0d%0aHost:%20evil",
            "http://images.example/a b",
            "http://images.example/a\r\nx",
            "http://images.example/a%",
            "http://images.example/a%zz",
            "http://images.example/a?x=%z",
            "http://images.example/a#part",
            "http://bücher.example/a",
            "file://server/share",
            "file:srv",
            "file:///srv/../etc/passwd",
            "file:///srv/%2e%2e/etc/passwd",
            "file:///srv/a?x",
            "file:///srv/a%00.png",
        ] {
            assert!(text.parse::<SourceUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_prefix_has_what_is_below_it() {
        let prefix = |text: &str| text.parse::<SourcePrefix>().unwrap();
        let has = |above: &str, text: &str| prefix(above).has(&text.parse().unwrap());
        for (above, has_any_port) in
            [("http://images.example/public", true), ("http://IMAGES.example:80/%70ublic/", false)]
        {
            for (url, expected) in [
                ("http://images.example/public", true),
                ("http://images.example/public?x", true),
                ("http://images.example/public/", true),
                ("http://images.example/publi%63/a/b", true),
                ("http://images.example:80/public/a", true),
                ("http://images.example/public2", false),
                ("http://images.example/public%2", false),
                ("http://images.example/Public/a", false),
                ("http://images.example/", false),
                ("http://images.example:8080/public/a", has_any_port),
                ("http://images.example:8080/publi/a", false),
                ("http://images.example.evil.example:8080/public/a", false),
                ("http://images.example.evil.example/public/a", false),
                ("http://evil.example/public/a", false),
                ("file:///public/a", false),
            ] {
                let is_url = url.parse::<SourceUrl>().is_ok();
                assert_eq!(is_url && has(above, url), expected, "{above} {url}");
            }
        }
        assert!(has("http://images.example", "http://images.example/a"));
        assert!(has("http://[::1]", "http://[::1]:8080/a") && !has("http://[::1]:80", "http://[::1]:8080/a"));
        assert!(has("http://images.example:8080", "http://images.example:8080/a"));
        assert!(!has("http://images.example:8080", "http://images.example/a"));
        assert!(has("file:///", "file:///srv/a") && has("file:///srv/", "file:///srv/a"));
        assert!(!has("file:///srv", "file:///srv2/a") && !has("file:///srv", "http://srv/srv/a"));
        assert!("http://images.example/?x".parse::<SourcePrefix>().is_err());
    }
}
