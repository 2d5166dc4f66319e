//! External contents: a binary whose bytes are elsewhere. The repository stores where they are and what to do for a read.

use std::collections::BTreeMap;
use std::sync::Arc;

use annals::{Content, Entity, Value};
use http::HeaderMap;

use crate::ldp::mapping::constraints::Refusal;
use crate::ldp::mapping::vocabulary::EXTERNAL_CONTENT;
use crate::ldp::requests::link;
use crate::protocol::problem::Problem;

/// The property of a binary that says where its bytes are, if the repository does not have them.
/// Shape: a map of `url`, `handling` (`proxy` or `redirect`), `mediaType` and perhaps `name`.
pub const EXTERNAL: &str = "ldp.external";
/// Longest media type. Units: bytes.
const MEDIA_TYPE_BYTES_MAX: usize = 255;

/// The handling of an external content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// It stores the bytes.
    Copy,
    /// It reads the bytes for each GET.
    Proxy,
    /// It sends clients to the bytes.
    Redirect,
}

/// An external content that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The address, as the client wrote it.
    pub url: String,
    /// Its handling.
    pub handling: Handling,
    /// The media type, if the client states one.
    pub media_type: Option<String>,
}

/// An external content that a binary refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// The address, in one form.
    pub url: Arc<str>,
    /// [`Handling::Proxy`] or [`Handling::Redirect`].
    pub handling: Handling,
    /// The media type.
    pub media_type: Arc<str>,
    /// The file name.
    pub name: Option<Arc<str>>,
}

impl Handling {
    /// All of them, as the header `Accept-External-Content-Handling` names them.
    pub const NAMES: &'static str = "copy, proxy, redirect";

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Handling::Copy => "copy",
            Handling::Proxy => "proxy",
            Handling::Redirect => "redirect",
        }
    }

    fn named(name: &str) -> Option<Handling> {
        let all = [Handling::Copy, Handling::Proxy, Handling::Redirect];
        all.into_iter().find(|handling| handling.name().eq_ignore_ascii_case(name))
    }
}

/// True if a request names an external content, whether it is right or wrong.
pub fn is_asked(headers: &HeaderMap) -> bool {
    links(headers).next().is_some()
}

fn links(headers: &HeaderMap) -> impl Iterator<Item = link::Link<'_>> {
    link::with_rel(headers, EXTERNAL_CONTENT)
}

impl Asked {
    /// The external content that a request names.
    ///
    /// Errors: a refusal for several of them, for one without `handling`, and for a media type that is none.
    pub fn of(headers: &HeaderMap) -> Result<Option<Asked>, Problem> {
        let mut links = links(headers);
        let Some(link) = links.next() else { return Ok(None) };
        if links.next().is_some() {
            return Err(refused(link.target, "expected one external content, found several"));
        }
        let handling = link.parameter("handling").and_then(Handling::named).ok_or_else(|| {
            let found = link.parameter("handling").unwrap_or("none");
            refused(link.target, format!("expected a handling of {}, found {found}", Handling::NAMES))
        })?;
        let media_type = link.parameter("type");
        if let Some(found) = media_type.filter(|media_type| !is_media_type(media_type)) {
            return Err(refused(link.target, format!("expected a type such as image/tiff, found {found:?}")));
        }
        let (url, media_type) = (link.target.to_owned(), media_type.map(str::to_owned));
        Ok(Some(Asked { url, handling, media_type }))
    }
}

/// A refusal of an external content.
pub fn refused(url: &str, reason: impl Into<String>) -> Problem {
    Refusal::new(format!("external content {url}"), reason).into_problem()
}

/// True for a media type that a header can carry.
pub fn is_media_type(text: &str) -> bool {
    text.len() <= MEDIA_TYPE_BYTES_MAX
        && text.bytes().all(|byte| (b' '..0x7F).contains(&byte))
        && text.split_once('/').is_some_and(|(kind, name)| !kind.is_empty() && !name.is_empty())
}

impl External {
    /// The external content of a binary, if it has one.
    pub fn of(entity: &Entity<'_>) -> Option<External> {
        let Some(Value::Map(map)) = entity.property(EXTERNAL) else { return None };
        let text = |name: &str| match map.get(name)? {
            Value::String(text) | Value::Iri(text) => Some(Arc::clone(text)),
            _ => None,
        };
        // Another door may have written anything.
        let media_type = text("mediaType").filter(|media_type| is_media_type(media_type));
        Some(External {
            url: text("url")?,
            handling: text("handling").and_then(|name| Handling::named(&name))?,
            media_type: media_type.unwrap_or_else(|| Content::UNKNOWN.into()),
            name: text("name"),
        })
    }

    /// The value of the property.
    pub fn value(&self) -> Value {
        let mut map: BTreeMap<Arc<str>, Value> = BTreeMap::from([
            ("url".into(), Value::Iri(Arc::clone(&self.url))),
            ("handling".into(), Value::from(self.handling.name())),
            ("mediaType".into(), Value::String(Arc::clone(&self.media_type))),
        ]);
        map.extend(self.name.clone().map(|name| ("name".into(), Value::String(name))));
        Value::Map(Arc::new(map))
    }
}
