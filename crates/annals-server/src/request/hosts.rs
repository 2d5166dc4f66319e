//! The names that requests may call the server by.
//!
//! A web page can give its own name the address of this server (DNS rebinding). The browser then takes the server for
//! the page's own, and lets the page read and write all of it. But the browser still sends the name. So the server
//! refuses a name that it was not given. A request that names an address instead cannot come from such a page.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use http::{Method, Request, Version};

use crate::protocol::machine::is_this_machine;
use crate::protocol::problem::Problem;

/// Header: whether the page that sends a request has the same origin.
static SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Reads that are long work of the whole server, which a page could begin without reading the answer.
const LONG_READS: [&str; 2] = ["/v1/backup", "/v1/check"];

/// A host without port: an address or a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// An address; never one of IPv4 in the form of IPv6.
    Address(IpAddr),
    /// A name, in small letters.
    Name(String),
}

/// The address by which clients call the server through a proxy: `https://repo.example.org`, perhaps with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    text: String,
    origin: Origin,
    host: Host,
}

/// The hosts that requests may name.
#[derive(Clone, Debug)]
pub struct Hosts {
    /// The address that the server listens at.
    listen: IpAddr,
    /// Hosts from the settings.
    given: Vec<Host>,
    /// The origins whose web pages may read and write.
    origins: Vec<Origin>,
    /// The address by which clients call the server.
    public: Option<PublicUrl>,
}

/// The origin of web pages, as the header `Origin` has it: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(HeaderValue);

impl FromStr for Host {
    type Err = String;

    /// Reads a host as `--host` takes it: `annals.example`, `192.0.2.7`, `2001:db8::7`.
    fn from_str(text: &str) -> Result<Host, String> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Host::Address(address.to_canonical()));
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if text.is_empty() || !text.bytes().all(is_name) {
            return Err("expected a name or an address without port, such as annals.example".into());
        }
        Ok(Host::Name(text.to_ascii_lowercase()))
    }
}

impl FromStr for Origin {
    type Err = String;

    /// Reads an origin as `--cors-origin` takes it: `https://catalogue.example`, `http://localhost:3000`.
    fn from_str(text: &str) -> Result<Origin, String> {
        let expected = "expected a scheme, a host and perhaps a port, such as https://catalogue.example";
        let (scheme, authority) = text.split_once("://").ok_or(expected)?;
        let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
        let is_default = matches!((scheme, port), ("http", "80") | ("https", "443"));
        if !matches!(scheme, "http" | "https") || Host::of_authority(authority).is_none() || is_default {
            return Err(expected.into());
        }
        // Browsers send small letters.
        HeaderValue::try_from(text.to_ascii_lowercase()).map(Origin).map_err(|_| expected.into())
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    /// Reads an address as `--public-url` takes it: `https://repo.example.org`, `https://example.org/repo/`.
    fn from_str(text: &str) -> Result<PublicUrl, String> {
        let expected =
            "expected http or https, a host, and perhaps a port and a path, such as https://repo.example.org";
        let (scheme, rest) = text.split_once("://").ok_or(expected)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = path.trim_end_matches('/');
        let is_segment = |segment: &str| {
            !["", ".", ".."].contains(&segment)
                && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
        };
        if !path.split('/').skip(1).all(is_segment) {
            return Err(expected.into());
        }
        let origin = format!("{scheme}://{authority}").to_ascii_lowercase();
        let host = Host::of_authority(authority).ok_or(expected)?;
        Ok(PublicUrl { text: format!("{origin}{path}"), origin: origin.parse().map_err(|_| expected)?, host })
    }
}

impl PublicUrl {
    /// The address, without a slash at its end.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Origin {
    /// As text, such as `https://annals.example`.
    pub fn text(&self) -> &str {
        // It is made of a text.
        self.0.to_str().unwrap_or_default()
    }

    /// The value of the header `Origin`.
    pub fn header(&self) -> &HeaderValue {
        &self.0
    }
}

impl Host {
    /// The host of an authority such as `localhost:8280`, `[::1]`; `None` if the authority is malformed.
    fn of_authority(authority: &str) -> Option<Host> {
        let (host, rest) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                (Host::Address(IpAddr::from(host.parse::<Ipv6Addr>().ok()?).to_canonical()), rest)
            }
            None => {
                let (host, rest) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
                (host.parse().ok()?, rest)
            }
        };
        let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(host)
    }
}

impl Hosts {
    /// The names of a server that listens at an address, together with the hosts that it was given.
    pub fn new(listen: IpAddr, given: Vec<Host>, origins: Vec<Origin>, public: Option<PublicUrl>) -> Hosts {
        Hosts { listen: listen.to_canonical(), given, origins, public }
    }

    /// The address by which clients call the server, if it was given one.
    pub fn public(&self) -> Option<&PublicUrl> {
        self.public.as_ref()
    }

    /// The origins whose web pages may read and write.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// Refuses a request that calls the server by an unknown name, and a write or a long read from a web page of another
    /// origin.
    ///
    /// Errors: `invalid-argument` if it names no host or several; `unknown-host`; `cross-origin`.
    pub fn check<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let authority = authority(request)?;
        if let Some(authority) = authority {
            self.check_authority(authority)?;
        }
        self.check_origin(request, authority)
    }

    fn check_authority(&self, authority: &str) -> Result<(), Problem> {
        let host = Host::of_authority(authority);
        if host.as_ref().is_some_and(|host| self.knows(host)) {
            return Ok(());
        }
        let remedy = match host {
            Some(Host::Name(name)) => {
                format!("; if it is a name of this server, start it with --host {name}")
            }
            Some(Host::Address(address)) => {
                format!("; if it is an address of this server, start it with --host {address}")
            }
            None => String::new(),
        };
        Err(Problem::door(
            "unknown-host",
            format!(
                "host {authority:?}: expected localhost, an address that the server listens at, or a host that it was given{remedy}"
            ),
        ))
    }

    /// A page of another origin, open in a browser on this machine, must not write here.
    fn check_origin<B>(&self, request: &Request<B>, authority: Option<&str>) -> Result<(), Problem> {
        if !is_for_own_pages(request.method(), request.uri().path()) {
            return Ok(());
        }
        let Some(origin) = request.headers().get(ORIGIN) else { return check_site(request) };
        let public = self.public.iter().map(|public| &public.origin);
        if self.origins.iter().chain(public).any(|known| known.header() == origin) {
            return Ok(());
        }
        let of_origin =
            origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, rest)| rest);
        match (of_origin, authority) {
            (Some(of_origin), Some(authority)) if of_origin.eq_ignore_ascii_case(authority) => Ok(()),
            _ => Err(Problem::door(
                "cross-origin",
                format!(
                    "origin {origin:?}: expected the origin of this server; if its pages may write, start the server with --cors-origin"
                ),
            )),
        }
    }

    fn knows(&self, host: &Host) -> bool {
        let is_own = match host {
            Host::Name(name) => name == "localhost",
            // A server that listens at all addresses has those of the machine, and further ones that only a gateway
            // knows.
            Host::Address(address) => {
                is_this_machine(*address) || *address == self.listen || self.listen.is_unspecified()
            }
        };
        is_own || self.given.contains(host) || self.public.as_ref().is_some_and(|public| public.host == *host)
    }
}

/// True for a request that no page of another origin may send.
pub fn is_for_own_pages(method: &Method, path: &str) -> bool {
    (*method != Method::GET && *method != Method::HEAD) || LONG_READS.contains(&path)
}

/// A browser sends no `Origin` with the address of a picture or of a link, but says whose page has it.
/// Source: <https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header>.
fn check_site<B>(request: &Request<B>) -> Result<(), Problem> {
    let site = request.headers().get(&SITE).map(HeaderValue::as_bytes);
    if !matches!(site, Some(b"cross-site" | b"same-site")) {
        return Ok(());
    }
    let text = "header sec-fetch-site: expected a page of this server, found one of another origin; ask from a page of this server";
    Err(Problem::door("cross-origin", text))
}

/// The host and port that a request names: in its first line (`:authority` in HTTP/2), or in the header `Host`.
///
/// Shape: `None` only for HTTP/1.0, which probes of load balancers send; no browser does.
/// Source: RFC 9112, section 3.2; RFC 9113, section 8.3.1.
fn authority<B>(request: &Request<B>) -> Result<Option<&str>, Problem> {
    let mut headers = request.headers().get_all(HOST).iter();
    let header = headers.next();
    if headers.next().is_some() {
        return Err(Problem::invalid("header host: expected one, found several; send one"));
    }
    let header = match header.map(|value| value.to_str()) {
        None => None,
        Some(Ok(text)) => Some(text.trim()),
        // The server has no such name; the check refuses it.
        Some(Err(_)) => Some(""),
    };
    let in_line = request.uri().authority().map(http::uri::Authority::as_str);
    match (in_line, header) {
        (Some(in_line), Some(header)) if !in_line.eq_ignore_ascii_case(header) => {
            Err(Problem::invalid(format!(
                "header host: expected {in_line:?}, as the first line of the request says, found {header:?}; send one of them"
            )))
        }
        (None, None) if request.version() > Version::HTTP_10 => {
            Err(Problem::invalid("header host: expected one, found none; send the name of the server"))
        }
        (in_line, header) => Ok(in_line.or(header)),
    }
}
