//! The header `Prefer` (RFC 7240): which parts of a graph the client wants.

use http::{HeaderMap, HeaderName};

use super::vocabulary::LDP;
use crate::protocol::header_text::{split, texts};

/// Header: what the client prefers.
pub static PREFER: HeaderName = HeaderName::from_static("prefer");
/// Header of answers: the preference that the server followed.
pub static PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

const FEDORA_4: &str = "http://fedora.info/definitions/v4/repository#";
const FEDORA: &str = "http://fedora.info/definitions/fcrepo#";

/// The parts of a graph that an answer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The statements of clients.
    pub has_own: bool,
    /// The classes that the server makes.
    pub has_managed: bool,
    /// The children of a container.
    pub has_containment: bool,
    /// The members of the resource, and the resources that it is a member of.
    pub has_membership: bool,
    /// The statements of other resources about this one.
    pub has_inbound: bool,
    /// True if the answer follows a preference of the client. One that names only unknown parts is not followed.
    pub is_applied: bool,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection {
            has_own: true,
            has_managed: true,
            has_containment: true,
            has_membership: true,
            has_inbound: false,
            is_applied: false,
        }
    }
}

/// A part, as preferences name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Minimal,
    Containment,
    Membership,
    Inbound,
    Managed,
}

impl Part {
    fn named(iri: &str) -> Option<Part> {
        let name = [LDP, FEDORA_4, FEDORA].into_iter().find_map(|namespace| iri.strip_prefix(namespace))?;
        match name {
            "PreferMinimalContainer" | "PreferEmptyContainer" => Some(Part::Minimal),
            "PreferContainment" => Some(Part::Containment),
            "PreferMembership" => Some(Part::Membership),
            "InboundReferences" | "PreferInboundReferences" => Some(Part::Inbound),
            "ServerManaged" => Some(Part::Managed),
            _ => None,
        }
    }
}

impl Selection {
    /// The preferences in the headers of a request.
    pub fn asked(headers: &HeaderMap) -> Selection {
        let mut selection = Selection::default();
        for preference in texts(headers, &PREFER).flat_map(|value| split(value, ',')) {
            selection.apply(preference);
        }
        selection
    }

    fn apply(&mut self, preference: &str) {
        let mut parameters = split(preference, ';');
        let is_representation = parameters.next().is_some_and(|first| {
            let (name, value) = first.split_once('=').unwrap_or((first, ""));
            name.trim().eq_ignore_ascii_case("return")
                && value.trim().trim_matches('"').eq_ignore_ascii_case("representation")
        });
        if !is_representation {
            return;
        }
        let (mut included, mut omitted, mut is_selecting) = (Vec::new(), Vec::new(), false);
        for parameter in parameters {
            let Some((name, value)) = parameter.split_once('=') else { continue };
            let parts = value.trim().trim_matches('"').split_ascii_whitespace().filter_map(Part::named);
            match &*name.trim().to_ascii_lowercase() {
                "include" => included.extend(parts),
                "omit" => omitted.extend(parts),
                _ => continue,
            }
            is_selecting = true;
        }
        self.is_applied |= !is_selecting || !included.is_empty() || !omitted.is_empty();
        let names = |part| included.contains(&part);
        if names(Part::Minimal) || names(Part::Containment) || names(Part::Membership) {
            self.has_containment = names(Part::Containment);
            self.has_membership = names(Part::Membership);
        }
        self.has_inbound |= names(Part::Inbound);
        for part in omitted {
            match part {
                Part::Minimal => self.has_own = false,
                Part::Containment => self.has_containment = false,
                Part::Membership => self.has_membership = false,
                Part::Inbound => self.has_inbound = false,
                Part::Managed => self.has_managed = false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn asked(value: &'static str) -> Selection {
        let mut headers = HeaderMap::new();
        headers.insert(&PREFER, HeaderValue::from_static(value));
        Selection::asked(&headers)
    }

    #[test]
    fn preferences_select_parts() {
        let all = Selection { is_applied: true, ..Selection::default() };
        assert_eq!(asked("return=minimal"), Selection::default());
        assert_eq!(asked("return=representation"), all);
        assert_eq!(
            asked(
                r#"return=representation; include="http://fedora.info/definitions/v4/repository#InboundReferences""#
            ),
            Selection { has_inbound: true, ..all }
        );
        assert_eq!(
            asked(r#"return=representation; include="http://www.w3.org/ns/ldp#PreferMinimalContainer""#),
            Selection { has_containment: false, has_membership: false, ..all }
        );
        assert_eq!(
            asked(
                r#"return=representation; omit="http://www.w3.org/ns/ldp#PreferMembership http://www.w3.org/ns/ldp#PreferContainment""#
            ),
            Selection { has_containment: false, has_membership: false, ..all }
        );
        assert_eq!(
            asked(r#"return=representation; include="http://www.w3.org/ns/ldp#PreferMembership", x"#),
            Selection { has_containment: false, ..all }
        );
    }
}
