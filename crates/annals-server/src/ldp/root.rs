//! Settings of the door: the path below which it answers, and what it requires.

use std::str::FromStr;
use std::sync::Arc;

use super::acl::web_ids::WebAc;
use super::binary::sources::Sources;

/// Settings of the door.
#[derive(Clone, Debug)]
pub struct LdpSettings {
    /// The path of the root container.
    pub root: LdpRoot,
    /// True if a PUT must state with `If-Match` which state it replaces.
    pub is_if_match_required: bool,
    /// Where external contents may be.
    pub external: Sources,
    /// Web Access Control; `None` if ACLs are not in force.
    pub web_access: Option<WebAc>,
}

/// The path of the root container: `/ldp`, `/rest`, `/a/b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LdpRoot(Arc<str>);

/// First segments that belong to the server.
const TAKEN: [&str; 6] = ["v1", "health", "metrics", "openapi.json", "errors", "explore"];

impl LdpRoot {
    /// The path, without a slash at its end.
    pub fn path(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl FromStr for LdpRoot {
    type Err = String;

    /// Reads a path of one or more segments of letters, digits, `-`, `_`, `.` and `~`; a slash at the end changes nothing.
    fn from_str(text: &str) -> Result<LdpRoot, String> {
        let path = text.strip_suffix('/').unwrap_or(text);
        let is_segment = |segment: &str| {
            !segment.is_empty()
                && segment != "."
                && segment != ".."
                && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
        };
        let is_path = path.strip_prefix('/').is_some_and(|inner| inner.split('/').all(is_segment));
        if !is_path {
            return Err(format!("expected a path such as /ldp or /rest, found {text:?}"));
        }
        let first = path.split('/').nth(1).unwrap_or_default();
        if TAKEN.contains(&first) {
            return Err(format!("expected another path, found {text:?}: /{first} belongs to the server"));
        }
        Ok(LdpRoot(path.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_paths_that_nothing_else_has() {
        for (text, path) in [("/ldp", "/ldp"), ("/rest/", "/rest"), ("/a/b", "/a/b")] {
            assert_eq!(&*text.parse::<LdpRoot>().unwrap().path(), path);
        }
        for bad in ["", "/", "rest", "//", "/a//b", "/{x}", "/v1", "/v1/ldp", "/a b", "/.."] {
            assert!(bad.parse::<LdpRoot>().is_err(), "{bad}");
        }
    }
}
