//! Verbs, which operations need, and the built-in roles, which give them.

/// A kind of work that a role may allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Verb {
    /// Read instances, their history, the feed, exports.
    Read = 1,
    /// Create instances, and restore deleted ones.
    Create = 1 << 1,
    /// Change properties and headers of instances.
    Update = 1 << 2,
    /// Delete instances.
    Delete = 1 << 3,
    /// Add, change and remove classifications.
    Classify = 1 << 4,
    /// Purge instances with their history.
    Purge = 1 << 5,
    /// Declare types, and name the collection.
    Define = 1 << 6,
    /// Name another author than oneself.
    SignForOthers = 1 << 7,
    /// Read metrics and the facts of health, and compact.
    Operate = 1 << 8,
    /// Change what the repository stores about itself: types whose names begin with `annals.` or `annals-`.
    Administer = 1 << 9,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Verb; 10] = [
        Verb::Read,
        Verb::Create,
        Verb::Update,
        Verb::Delete,
        Verb::Classify,
        Verb::Purge,
        Verb::Define,
        Verb::SignForOthers,
        Verb::Operate,
        Verb::Administer,
    ];

    /// Its name in every door.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Read => "read",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Delete => "delete",
            Verb::Classify => "classify",
            Verb::Purge => "purge",
            Verb::Define => "define",
            Verb::SignForOthers => "sign-for-others",
            Verb::Operate => "operate",
            Verb::Administer => "administer",
        }
    }
}

/// A set of verbs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verbs(u16);

impl Verbs {
    /// No verb.
    pub const NONE: Verbs = Verbs(0);
    /// Every verb.
    pub const ALL: Verbs = Verbs::of(&Verb::ALL);

    /// The set of these verbs.
    pub const fn of(verbs: &[Verb]) -> Verbs {
        let (mut bits, mut index) = (0, 0);
        while index < verbs.len() {
            bits |= verbs[index] as u16;
            index += 1;
        }
        Verbs(bits)
    }

    /// The verbs of both sets.
    #[must_use]
    pub fn and(self, others: Verbs) -> Verbs {
        Verbs(self.0 | others.0)
    }

    /// True if there is none.
    pub fn is_empty(self) -> bool {
        self == Verbs::NONE
    }

    /// True if the verb is in the set.
    pub fn has(self, verb: Verb) -> bool {
        self.0 & verb as u16 != 0
    }

    /// True if all verbs of the other set are in this one.
    pub fn has_all(self, others: Verbs) -> bool {
        self.0 & others.0 == others.0
    }

    /// True if one verb of the other set is in this one.
    pub fn has_any(self, others: Verbs) -> bool {
        self.0 & others.0 != 0
    }

    /// The verbs, in the order of [`Verb::ALL`].
    pub fn list(self) -> impl Iterator<Item = Verb> {
        Verb::ALL.into_iter().filter(move |verb| self.has(*verb))
    }
}

/// The built-in roles, and their verbs.
const ROLES: [(&str, Verbs); 4] = [
    ("admin", Verbs::ALL),
    ("operate", Verbs::of(&[Verb::Operate])),
    ("read", Verbs::of(&[Verb::Read])),
    ("write", Verbs::of(&[Verb::Read, Verb::Create, Verb::Update, Verb::Delete, Verb::Classify])),
];

/// The names of the built-in roles.
pub fn role_names() -> impl Iterator<Item = &'static str> {
    ROLES.iter().map(|(name, _)| *name)
}

/// The verbs of a role; `None` for a role that is not built in, which gives nothing.
pub fn of_role(name: &str) -> Option<Verbs> {
    ROLES.iter().find(|(known, _)| *known == name).map(|(_, verbs)| *verbs)
}

/// The verbs of roles together.
pub fn of_roles<'n>(names: impl IntoIterator<Item = &'n str>) -> Verbs {
    names.into_iter().filter_map(of_role).fold(Verbs::NONE, Verbs::and)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_gives_its_verbs_and_an_unknown_one_none() {
        let names = |verbs: Verbs| verbs.list().map(Verb::name).collect::<Vec<_>>().join(" ");
        assert_eq!(of_roles(["read", "operate"]), Verbs::of(&[Verb::Read, Verb::Operate]));
        assert_eq!(names(of_roles(["write"])), "read create update delete classify");
        assert_eq!(of_roles(["curator"]), Verbs::NONE);
        assert_eq!(of_roles(["admin"]).list().count(), Verb::ALL.len());
        let verbs = Verbs::of(&[Verb::Read, Verb::Purge]);
        assert!(verbs.has_any(Verbs::of(&[Verb::Purge, Verb::Define])));
        assert!(!verbs.has_all(Verbs::of(&[Verb::Purge, Verb::Define])));
    }
}
