//! The last segment of the address of a new resource.

use annals::{Id, Snapshot};
use http::HeaderMap;
use http::HeaderName;
use percent_encoding::percent_decode_str;

use crate::ldp::mapping::path::{Path, RESERVED};
use crate::ldp::mapping::view::{Found, found};
use crate::protocol::problem::Problem;

/// Header: what the client would like to call the new resource.
pub static SLUG: HeaderName = HeaderName::from_static("slug");

/// Longest segment made from a slug. Units: bytes.
const SLUG_BYTES_MAX: usize = 120;

/// The name that a client would like; `None` if nothing of it is left.
///
/// Letters, digits, `-`, `_`, `.` and `~` stay; anything else, also a slash, becomes a hyphen.
pub fn wanted(headers: &HeaderMap) -> Option<String> {
    let text = std::str::from_utf8(headers.get(&SLUG)?.as_bytes()).ok()?;
    let decoded = percent_decode_str(text).decode_utf8_lossy();
    let mut name = String::new();
    for character in decoded.trim().chars() {
        let is_kept = character.is_alphanumeric() || "-_.~".contains(character);
        let character = if is_kept { character } else { '-' };
        if name.len() + character.len_utf8() > SLUG_BYTES_MAX {
            break;
        }
        if character != '-' || !name.ends_with('-') {
            name.push(character);
        }
    }
    let name = name.trim_matches(['-', '.']);
    (!name.is_empty() && !name.starts_with(RESERVED)).then(|| name.to_owned())
}

/// A free path in a container: with the wanted name, or with something behind it. A name is never used again.
///
/// Errors: those of reading.
pub fn choose(snapshot: &Snapshot, container: &Path, wanted: Option<&str>) -> Result<Path, Problem> {
    if let Some(name) = wanted {
        let path = container.child(name)?;
        if is_free(snapshot, &path)? {
            return Ok(path);
        }
    }
    loop {
        let unique = Id::random().to_string();
        let name = wanted.map_or_else(|| unique.clone(), |name| format!("{name}-{}", &unique[24..]));
        let path = container.child(&name)?;
        if is_free(snapshot, &path)? {
            return Ok(path);
        }
    }
}

fn is_free(snapshot: &Snapshot, path: &Path) -> Result<bool, Problem> {
    Ok(matches!(found(snapshot, &path.id())?, Found::Missing | Found::Placeholder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_segments() {
        for (slug, name) in [
            ("report 1", Some("report-1")),
            ("../../etc/passwd", Some("etc-passwd")),
            ("a/b?c#d", Some("a-b-c-d")),
            ("%C3%A9t%C3%A9", Some("été")),
            ("fcr:tombstone", Some("fcr-tombstone")),
            (" / ", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(&SLUG, slug.parse().unwrap());
            assert_eq!(wanted(&headers).as_deref(), name, "{slug}");
        }
    }
}
