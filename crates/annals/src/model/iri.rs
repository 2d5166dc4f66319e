//! IRIs as RFC 3987 has them.

/// Most characters of a malformed IRI that an error shows.
const SHOWN_MAX: usize = 100;

/// True for an IRI after RFC 3987: a scheme, and behind it only characters that an IRI may have. A reference without a
/// scheme is none.
///
/// ```
/// assert!(annals::is_iri("urn:x") && annals::is_iri("http://example.org/é?a#b"));
/// assert!(!annals::is_iri("/x") && !annals::is_iri("http://example.org/a b") && !annals::is_iri("urn:<x>"));
/// ```
pub fn is_iri(text: &str) -> bool {
    oxiri::Iri::parse(text).is_ok()
}

/// A malformed IRI in the text of an error.
pub(crate) fn shown(text: &str) -> String {
    format!("{:?}", text.chars().take(SHOWN_MAX).collect::<String>())
}
