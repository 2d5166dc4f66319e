//! The path of a resource below the root of the door, and the id of the entity that it is.

use std::fmt::Write;

use annals::{Entity, ID_BYTES_MAX, Id};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use uuid::Uuid;

use crate::protocol::problem::Problem;

/// Longest segment. Units: bytes, decoded. The name of a child in its container takes at most 400 bytes.
pub const SEGMENT_BYTES_MAX: usize = 255;
/// Most segments: containers nest at most 256 levels, and a node of a resource takes one.
const SEGMENTS_MAX: usize = 250;
/// Segments that begin with this mean something about the resource before them.
pub const RESERVED: &str = "fcr:";
/// The segment of the ACL, below the resource.
pub const ACL_SEGMENT: &str = "fcr:acl";
/// The property of an entity that holds a path that its id cannot hold.
pub const PATH_PROPERTY: &str = "ldp.path";
/// The ids of entities begin with this.
const SCHEME: &str = "ldp:";

// A segment may hold these characters unencoded (RFC 3986, `pchar`).
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The path of a resource: `/` is the root container, `/a/b` a resource in `/a`.
///
/// Shape: decoded; begins with a slash; ends with none, except the root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(String);

impl Path {
    /// The root container.
    pub fn root() -> Path {
        Path("/".to_owned())
    }

    /// The path written as `encoded`, percent-encoded. Several slashes are one, and a slash at the end changes nothing:
    /// clients of Fedora put a path behind an address that ends with a slash.
    ///
    /// Errors: `invalid-argument` for `.`, `..`, an encoded slash, bytes that are not UTF-8, and a segment or a path that
    /// is too long.
    pub fn parse(encoded: &str) -> Result<Path, Problem> {
        let mut path = Path::root();
        for segment in encoded.split('/').filter(|segment| !segment.is_empty()) {
            let decoded = percent_decode_str(segment)
                .decode_utf8()
                .map_err(|_| Problem::invalid("path: expected UTF-8, percent-encoded"))?;
            path = path.child(&decoded)?;
        }
        Ok(path)
    }

    /// The path of a child.
    ///
    /// Errors: `invalid-argument` for a name that is no segment.
    pub fn child(&self, name: &str) -> Result<Path, Problem> {
        let is_bad = name.is_empty() || name == "." || name == ".." || name.contains('/');
        if is_bad || name.len() > SEGMENT_BYTES_MAX {
            return Err(Problem::invalid(format!(
                "path segment {name:?}: expected 1 to {SEGMENT_BYTES_MAX} bytes, not . or .., without an encoded slash"
            )));
        }
        if self.segments_count() >= SEGMENTS_MAX {
            return Err(Problem::invalid(format!("path: expected at most {SEGMENTS_MAX} segments")));
        }
        let separator = if self.is_root() { "" } else { "/" };
        Ok(Path(format!("{}{separator}{name}", self.0)))
    }

    /// True for the root container.
    pub fn is_root(&self) -> bool {
        self.0 == "/"
    }

    fn segments_count(&self) -> usize {
        if self.is_root() { 0 } else { self.0.matches('/').count() }
    }

    /// The last segment; empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The path of the container; `None` for the root.
    pub fn parent(&self) -> Option<Path> {
        if self.is_root() {
            return None;
        }
        let (before, _) = self.0.rsplit_once('/')?;
        Some(if before.is_empty() { Path::root() } else { Path(before.to_owned()) })
    }

    /// The path of the ACL of the resource.
    ///
    /// Errors: `invalid-argument` for a resource with the most segments already.
    pub fn acl(&self) -> Result<Path, Problem> {
        self.child(ACL_SEGMENT)
    }

    /// True for the path of an ACL.
    pub fn is_acl(&self) -> bool {
        self.name() == ACL_SEGMENT
    }

    /// The path as text, decoded.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The path as part of an address.
    pub fn encoded(&self) -> String {
        let mut encoded = String::with_capacity(self.0.len() + 8);
        append_encoded(&self.0, &mut encoded);
        encoded
    }

    /// True if a segment begins with the reserved prefix.
    pub fn is_reserved(&self) -> bool {
        self.0.split('/').any(|segment| segment.starts_with(RESERVED))
    }

    /// The id of the entity: `ldp:/a/b`, or `ldp:#` and a name-based UUID if the path is too long for an id, or has
    /// control characters.
    pub fn id(&self) -> Id {
        let text = format!("{SCHEME}{}", self.0);
        if self.needs_property() {
            let hashed = format!("{SCHEME}#{}", Uuid::new_v5(&Uuid::NAMESPACE_URL, text.as_bytes()));
            return Id::new(&hashed).expect("a short text without control characters is an id");
        }
        Id::new(&text).expect("it is checked")
    }

    /// True if the id does not hold the path, so that a property of the entity must.
    pub fn needs_property(&self) -> bool {
        SCHEME.len() + self.0.len() > ID_BYTES_MAX || self.0.chars().any(char::is_control)
    }

    /// The path in an id; `None` if it is no resource, and for a path that its id does not hold.
    pub fn of_id(id: &Id) -> Option<Path> {
        let text = id.text()?.strip_prefix(SCHEME)?;
        text.starts_with('/').then(|| Path(text.to_owned()))
    }

    /// The path of an entity; `None` if it is no resource.
    pub fn of_entity(entity: &Entity<'_>) -> Option<Path> {
        let text = entity.id().text()?.strip_prefix(SCHEME)?;
        if text.starts_with('/') {
            return Some(Path(text.to_owned()));
        }
        let path = entity.property(PATH_PROPERTY)?;
        path.as_str().map(|path| Path(path.to_owned()))
    }
}

/// Appends a decoded path, percent-encoded.
pub fn append_encoded(path: &str, out: &mut String) {
    for (index, segment) in path.split('/').enumerate() {
        if index > 0 {
            out.push('/');
        }
        write!(out, "{}", utf8_percent_encode(segment, SEGMENT)).expect("memory takes what is written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_and_encoded_again() {
        for (encoded, text, again) in [
            ("", "/", "/"),
            ("/", "/", "/"),
            ("/a/b", "/a/b", "/a/b"),
            ("/a/b/", "/a/b", "/a/b"),
            ("//", "/", "/"),
            ("//a///b//", "/a/b", "/a/b"),
            ("/a%20b/%C3%A9:@", "/a b/é:@", "/a%20b/%C3%A9:@"),
        ] {
            let path = Path::parse(encoded).unwrap();
            assert_eq!((path.text(), &*path.encoded()), (text, again));
        }
        for bad in ["/a/../b", "/a%2Fb", "/%ff", &format!("/{}", "x".repeat(256))] {
            assert!(Path::parse(bad).is_err(), "{bad}");
        }
        assert!(Path::parse(&"/a".repeat(SEGMENTS_MAX)).is_ok());
        assert!(Path::parse(&"/a".repeat(SEGMENTS_MAX + 1)).is_err());
    }

    #[test]
    fn a_path_knows_its_container_and_its_id() {
        let path = Path::parse("/a/b").unwrap();
        assert_eq!((path.parent().unwrap().text(), path.name()), ("/a", "b"));
        assert_eq!(path.id().text(), Some("ldp:/a/b"));
        assert_eq!(Path::parse("/a").unwrap().parent(), Some(Path::root()));
        assert_eq!(Path::root().parent(), None);
        let long = Path::parse(&format!("/{0}/{0}", "x".repeat(200))).unwrap();
        assert!(long.id().text().unwrap().starts_with("ldp:#"));
        assert!(long.needs_property());
        assert!(Path::parse("/a%0Ab").unwrap().needs_property());
    }
}
