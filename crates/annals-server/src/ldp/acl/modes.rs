//! Modes of access, which the authorizations of an ACL give.

use std::fmt;

/// The vocabulary of Web Access Control.
pub const ACL: &str = "http://www.w3.org/ns/auth/acl#";

/// A set of modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes(u8);

impl Modes {
    /// No mode.
    pub const NONE: Modes = Modes(0);
    /// Read the resource, and its versions.
    pub const READ: Modes = Modes(1);
    /// Add to the resource, or to the container.
    pub const APPEND: Modes = Modes(2);
    /// Change and delete; it includes to append.
    pub const WRITE: Modes = Modes(4 | 2);
    /// Read and write the ACL of the resource.
    pub const CONTROL: Modes = Modes(8);

    const NAMES: [(&str, Modes); 4] = [
        ("Read", Modes::READ),
        ("Append", Modes::APPEND),
        ("Write", Modes::WRITE),
        ("Control", Modes::CONTROL),
    ];

    /// The mode that an IRI names; `None` for any other.
    pub fn of_iri(iri: &str) -> Option<Modes> {
        let name = iri.strip_prefix(ACL)?;
        Modes::NAMES.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode)
    }

    /// The modes of both sets.
    #[must_use]
    pub fn and(self, others: Modes) -> Modes {
        Modes(self.0 | others.0)
    }

    /// The modes that are in both sets.
    #[must_use]
    pub fn within(self, others: Modes) -> Modes {
        Modes(self.0 & others.0)
    }

    /// True if all modes of the other set are in this one.
    pub fn has(self, others: Modes) -> bool {
        self.0 & others.0 == others.0
    }
}

impl fmt::Display for Modes {
    /// Their names; `none` if there is none. Write includes Append, which is not named then.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_named = |mode: Modes| self.has(mode) && !(mode == Modes::APPEND && self.has(Modes::WRITE));
        let named = Modes::NAMES.iter().filter(|(_, mode)| is_named(*mode));
        let names: Vec<String> = named.map(|(name, _)| format!("acl:{name}")).collect();
        if names.is_empty() { f.write_str("none") } else { f.write_str(&names.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_includes_append_and_nothing_else() {
        let write = Modes::of_iri("http://www.w3.org/ns/auth/acl#Write").unwrap();
        assert!(write.has(Modes::APPEND) && !write.has(Modes::READ) && !write.has(Modes::CONTROL));
        assert!(!Modes::APPEND.has(Modes::WRITE) && !Modes::NONE.has(Modes::READ));
        assert_eq!(Modes::of_iri("http://www.w3.org/ns/auth/acl#Read"), Some(Modes::READ));
        assert_eq!(
            [Modes::of_iri("Read"), Modes::of_iri("http://www.w3.org/ns/auth/acl#read")],
            [None, None]
        );
        let texts = [Modes::NONE, Modes::READ.and(Modes::APPEND), write].map(|modes| modes.to_string());
        assert_eq!(texts, ["none", "acl:Read, acl:Append", "acl:Write"]);
    }
}
