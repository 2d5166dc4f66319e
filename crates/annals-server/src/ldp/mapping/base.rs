//! The address of the root, as the client of a request calls it: turns IRIs into paths, and paths into IRIs.

use annals::{Entity, Value};
use http::header::HOST;
use http::{HeaderMap, Uri};
use oxrdf::NamedNode;

use super::path::{Path, append_encoded};
use super::readable::Readable;
use crate::protocol::header_text::text;
use crate::request::hosts::PublicUrl;

/// The thing that an IRI names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<'i> {
    /// A resource of this server.
    Resource(Path),
    /// A part of a resource of this server, by its fragment.
    Part(Path, &'i str),
    /// Anything else.
    Outside,
}

/// The address of the root container, without the slash at its end, and what the client of the request may not see.
#[derive(Clone, Debug)]
pub struct Base {
    address: String,
    /// `None` for a client that reads everything.
    readable: Option<Readable>,
}

impl Base {
    /// The address by which a request calls the root: below `public`, if the server was given an address, and whatever the
    /// request says.
    pub fn of(headers: &HeaderMap, uri: &Uri, root: &str, public: Option<&PublicUrl>) -> Base {
        if let Some(public) = public {
            return Base::at(format!("{}{root}", public.text()));
        }
        let scheme = uri.scheme_str().unwrap_or("http");
        let host = text(headers, &HOST);
        let authority = uri.authority().map(http::uri::Authority::as_str).or(host).unwrap_or("localhost");
        Base::at(format!("{scheme}://{}{root}", authority.to_ascii_lowercase()))
    }

    fn at(address: String) -> Base {
        Base { address, readable: None }
    }

    /// The same, for a client that may not read every resource.
    pub fn seen_by(self, readable: Readable) -> Base {
        Base { readable: Some(readable), ..self }
    }

    /// True if the client may read the resource at a path.
    ///
    /// Errors: those of reading its ACL.
    pub fn is_readable(&self, path: &Path) -> annals::Result<bool> {
        self.readable.as_ref().map_or(Ok(true), |readable| readable.has(path))
    }

    /// True if the client reads everything, so that nothing needs to be asked.
    pub fn is_whole(&self) -> bool {
        self.readable.is_none()
    }

    /// The same address, of a server with TLS.
    pub fn over_tls(self) -> Base {
        match self.address.strip_prefix("http://") {
            Some(rest) => Base { address: format!("https://{rest}"), ..self },
            None => self,
        }
    }

    /// The address of a resource.
    pub fn iri(&self, path: &Path) -> String {
        let mut iri = String::with_capacity(self.address.len() + path.text().len() + 8);
        iri.push_str(&self.address);
        append_encoded(path.text(), &mut iri);
        iri
    }

    /// The address of the resource that an entity is; `None` if it is none.
    pub fn iri_of(&self, entity: &Entity<'_>) -> Option<String> {
        // Most ids are the path itself, so no copy of the path is needed.
        if let Some(path) = entity.id().text().and_then(|text| text.strip_prefix("ldp:/")) {
            let mut iri = String::with_capacity(self.address.len() + path.len() + 8);
            iri.push_str(&self.address);
            iri.push('/');
            append_encoded(path, &mut iri);
            return Some(iri);
        }
        Path::of_entity(entity).map(|path| self.iri(&path))
    }

    /// The node of a resource.
    pub fn node(&self, path: &Path) -> NamedNode {
        // The base is checked with each request, and paths are percent-encoded.
        NamedNode::new_unchecked(self.iri(path))
    }

    /// The node of the resource that an entity is; `None` if it is none.
    pub fn node_of(&self, entity: &Entity<'_>) -> Option<NamedNode> {
        // As above.
        self.iri_of(entity).map(NamedNode::new_unchecked)
    }

    /// The thing that an IRI names.
    pub fn place<'i>(&self, iri: &'i str) -> Place<'i> {
        let Some(rest) = iri.strip_prefix(&*self.address) else { return Place::Outside };
        if !(rest.is_empty() || rest.starts_with(['/', '#'])) || rest.contains('?') {
            return Place::Outside;
        }
        let (path, fragment) = rest.split_once('#').map_or((rest, None), |(path, part)| (path, Some(part)));
        match (Path::parse(path), fragment) {
            (Ok(path), None) => Place::Resource(path),
            (Ok(path), Some(fragment)) => Place::Part(path, fragment),
            (Err(_), _) => Place::Outside,
        }
    }

    /// An IRI as it is stored: one below the root becomes independent of the name of the server.
    pub fn stored(&self, iri: &str) -> String {
        match self.place(iri) {
            Place::Resource(path) => format!("ldp:{}", path.encoded()),
            Place::Part(path, fragment) => format!("ldp:{}#{fragment}", path.encoded()),
            // So that an IRI of a client that looks like a stored one comes back unchanged.
            Place::Outside if iri.starts_with("ldp:") => format!("ldp:!{iri}"),
            Place::Outside => iri.to_owned(),
        }
    }

    /// The IRI that is stored as `stored`.
    pub fn restored(&self, stored: &str) -> String {
        match stored.strip_prefix("ldp:") {
            Some(path) if path.starts_with('/') => format!("{}{path}", self.address),
            Some(escaped) => escaped.strip_prefix('!').unwrap_or(stored).to_owned(),
            None => stored.to_owned(),
        }
    }
}

/// The stored IRI of a resource, for a statement that is no relationship.
pub fn stored_iri(path: &Path) -> Value {
    Value::Iri(format!("ldp:{}", path.encoded()).into())
}

/// The path in a stored IRI, with its fragment; `None` if it names nothing of this server.
pub fn stored_path(stored: &str) -> Option<(Path, Option<&str>)> {
    let rest = stored.strip_prefix("ldp:").filter(|rest| rest.starts_with('/'))?;
    let (path, fragment) = rest.split_once('#').map_or((rest, None), |(path, part)| (path, Some(part)));
    Some((Path::parse(path).ok()?, fragment))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Base {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "LocalHost:8080".parse().unwrap());
        Base::of(&headers, &Uri::from_static("/rest/a"), "/rest", None)
    }

    #[test]
    fn iris_below_the_root_are_places() {
        let base = base();
        let path = |text: &str| Path::parse(text).unwrap();
        for (iri, place) in [
            ("http://localhost:8080/rest", Place::Resource(Path::root())),
            ("http://localhost:8080/rest/", Place::Resource(Path::root())),
            ("http://localhost:8080/rest/a/b/", Place::Resource(path("/a/b"))),
            ("http://localhost:8080/rest/a#x", Place::Part(path("/a"), "x")),
            ("http://localhost:8080/restful", Place::Outside),
            ("http://localhost:8080/rest/a?x", Place::Outside),
            ("http://localhost:8080/rest//a", Place::Resource(path("/a"))),
            ("http://example.org/rest/a", Place::Outside),
        ] {
            assert_eq!(base.place(iri), place, "{iri}");
        }
        assert_eq!(base.iri(&Path::root()), "http://localhost:8080/rest/");
        assert_eq!(base.iri(&path("/a%20b")), "http://localhost:8080/rest/a%20b");
    }

    #[test]
    fn a_public_address_is_the_only_one() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "localhost:8080".parse().unwrap());
        let public = "HTTPS://Repo.Example:8443/Annals/".parse().unwrap();
        let base = Base::of(&headers, &Uri::from_static("/rest/a"), "/rest", Some(&public));
        assert_eq!(base.iri(&Path::root()), "https://repo.example:8443/Annals/rest/");
        let path = Path::parse("/a").unwrap();
        assert_eq!(base.place("https://repo.example:8443/Annals/rest/a"), Place::Resource(path));
        assert_eq!(base.place("http://localhost:8080/rest/a"), Place::Outside);
        for bad in [
            "repo.example",
            "ftp://repo.example",
            "https://",
            "https://u@repo.example",
            "https://repo.example:443",
            "https://repo.example/a?b",
            "https://repo.example/a//b",
            "https://repo.example/../a",
        ] {
            assert!(bad.parse::<PublicUrl>().is_err(), "{bad}");
        }
    }

    #[test]
    fn stored_iris_come_back() {
        let base = base();
        for iri in ["http://localhost:8080/rest/a#x", "http://example.org/", "ldp:/a", "ldp:!x", "urn:x"] {
            assert_eq!(base.restored(&base.stored(iri)), iri);
        }
        assert_eq!(base.stored("http://localhost:8080/rest/a#x"), "ldp:/a#x");
    }
}
