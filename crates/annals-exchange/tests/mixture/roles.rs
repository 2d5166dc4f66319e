//! The role of the client of a candidate, which changes between its edits and its commit: what it forbids then does not
//! take effect.

use std::collections::BTreeSet;

use annals::*;

use crate::random::Random;
use crate::world::World;

/// Verbs that a role may forbid.
const VERBS: [&str; 5] = ["create", "update", "delete", "restore", "purge"];

/// The verbs that are forbidden.
#[derive(Default)]
pub struct Role(BTreeSet<&'static str>);

impl Role {
    /// Mostly one that forbids nothing.
    fn any(random: &mut Random) -> Role {
        match random.one_in(3) {
            true => Role(VERBS.into_iter().filter(|_| random.one_in(3)).collect()),
            false => Role::default(),
        }
    }

    pub fn forbids(&self, action: &Action) -> bool {
        self.0.contains(action.verb())
    }

    /// The candidates, for a client with this role.
    fn limits(&self, candidates: Candidates) -> Candidates {
        let role = Role(self.0.clone());
        candidates.checked(move |_, transaction| {
            match transaction.actions().find(|action| role.forbids(action)) {
                Some(action) => {
                    Err(Error::new(ErrorKind::Refused, format!("{}: not as this role", action.verb())))
                }
                None => Ok(()),
            }
        })
    }
}

impl World {
    /// The candidates, for a client whose role may have changed since.
    pub(crate) fn limited_candidates(&mut self) -> Candidates {
        if self.random.one_in(3) {
            self.role = Role::any(&mut self.random);
            self.history.push(format!("{}: the role forbids {:?}", self.position(), self.role.0));
        }
        self.role.limits(self.repository().candidates())
    }

    /// The same, for a client that has just lost the right to one of its edits.
    pub(crate) fn demoted_candidates(&mut self) -> Candidates {
        let edits = self.repository().candidates().edits("c").expect("its edits");
        if !edits.is_empty() {
            self.role = Role(BTreeSet::from([self.random.choose(&edits).action.verb()]));
            self.history.push(format!("{}: the role forbids {:?}", self.position(), self.role.0));
        }
        self.role.limits(self.repository().candidates())
    }

    /// Fails if the role does not forbid one of these changes, and the outcome says so; or if it does, and they took effect.
    pub(crate) fn check_role<T>(&self, what: &str, edits: &[annals::Change], outcome: &Result<T>) {
        let is_forbidden = edits.iter().any(|edit| self.role.forbids(&edit.action));
        match outcome {
            Ok(_) => assert!(!is_forbidden, "{what} as {:?}: {edits:#?}: {}", self.role.0, self.what()),
            Err(error) if error.kind() == ErrorKind::Refused => {
                assert!(is_forbidden, "{what} as {:?}: {error}: {edits:#?}: {}", self.role.0, self.what());
            }
            Err(_) => {}
        }
    }

    /// The changes of the last record, without those of the candidate itself.
    pub(crate) fn last_changes(&self) -> Vec<annals::Change> {
        let before = Position(self.position() - 1);
        let (_, record) =
            self.repository().follow(before).poll().expect("it can be read").expect("it is there");
        let own = crate::push::instance(false, "annals-candidate:c");
        record.changes.into_iter().filter(|change| change.action.instance().as_ref() != Some(&own)).collect()
    }
}
