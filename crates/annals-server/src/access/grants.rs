//! Grants in the graph: entities of the type `annals.Grant`, each of which lets a role read, and perhaps change, some
//! entities.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use annals::{Find, Grant, Id, Position, Right, Rights, Snapshot, Value};

use crate::protocol::problem::Problem;

/// The type of grants.
pub const GRANT: &str = "annals.Grant";

/// The grants of a repository, read again when one changes, and the rights that follow from them.
#[derive(Default)]
pub struct Grants(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    state: State,
    /// That of the snapshot whose grants they are.
    position: Position,
    /// The latest position at which they were found unchanged.
    checked: Position,
    by_role: ByRole,
    rights: HashMap<Vec<Arc<str>>, Arc<Rights>>,
}

/// The grants of each role, with the changes that they allow.
type ByRole = HashMap<Arc<str>, Vec<(Grant, Vec<Right>)>>;

/// Tells whether a grant has changed: their count, and the latest change of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    count: u64,
    last: Position,
}

impl Grants {
    /// The rights of a client with these roles. Without a grant it sees nothing.
    ///
    /// Errors: those of reading the grants.
    pub fn rights(&self, snapshot: &Snapshot, roles: &[Arc<str>]) -> annals::Result<Arc<Rights>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Grants of now hold for a reader of an earlier snapshot, too.
        if !kept.are_of(snapshot)? && snapshot.position() >= kept.position {
            let (state, position, by_role) = (State::of(snapshot)?, snapshot.position(), by_role(snapshot)?);
            let mut rights = std::mem::take(&mut kept.rights);
            // Roles whose grants stay the same keep what was found out for them: which instances they see.
            rights.retain(|roles, _| roles.iter().all(|role| kept.by_role.get(role) == by_role.get(role)));
            *kept = Kept { state, position, checked: position, by_role, rights };
        }
        let roles = sorted(roles);
        if let Some(rights) = kept.rights.get(&roles) {
            return Ok(Arc::clone(rights));
        }
        let grants: Vec<(Grant, Vec<Right>)> =
            roles.iter().filter_map(|role| kept.by_role.get(role)).flatten().cloned().collect();
        let rights = Arc::new(Rights::new(&grants)?);
        kept.rights.insert(roles, Arc::clone(&rights));
        Ok(rights)
    }

    /// The same, if it takes no longer than a look-up, also to see the snapshot with it: threads of the network ask it, so it
    /// waits for no lock and reads no grants.
    pub fn ready(&self, snapshot: &Snapshot, roles: &[Arc<str>]) -> Option<Arc<Rights>> {
        let kept = match self.0.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(kept)) => kept.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let rights = (kept.checked == snapshot.position()).then(|| kept.rights.get(&sorted(roles))).flatten();
        rights.filter(|rights| rights.sight().is_ready_for(snapshot)).cloned()
    }
}

impl Kept {
    /// True if the grants of the snapshot are these.
    fn are_of(&mut self, snapshot: &Snapshot) -> annals::Result<bool> {
        let position = snapshot.position();
        // Most reads are at the position of the read before.
        if self.checked == position {
            return Ok(true);
        }
        let is_same = self.state == State::of(snapshot)?;
        if is_same {
            self.checked = self.checked.max(position);
        }
        Ok(is_same)
    }
}

fn sorted(roles: &[Arc<str>]) -> Vec<Arc<str>> {
    let mut roles = roles.to_vec();
    roles.sort_unstable();
    roles.dedup();
    roles
}

impl State {
    // Instants do not tell the latest change: they stand still while the clock is behind, and a copy has that of its home.
    fn of(snapshot: &Snapshot) -> annals::Result<State> {
        let mut state = State::default();
        for grant in snapshot.entities_of(Some(GRANT)) {
            state = State { count: state.count + 1, last: state.last.max(grant?.position()) };
        }
        Ok(state)
    }
}

fn by_role(snapshot: &Snapshot) -> annals::Result<ByRole> {
    let mut by_role = ByRole::new();
    for entity in snapshot.entities_of(Some(GRANT)) {
        let entity = entity?;
        // Checked when it was written; one from elsewhere that cannot be read admits nothing.
        match grant_of(|name| entity.property(name)) {
            Ok((role, grant, rights)) => by_role.entry(role).or_default().push((grant, rights)),
            Err(problem) => {
                tracing::warn!(target: "annals::access", id = %entity.id(), "grant left out: {}", problem.detail());
            }
        }
    }
    Ok(by_role)
}

/// The grant in these properties, with its role before and its rights behind it.
///
/// Errors: `invalid-argument`.
pub fn grant_of(property: impl Fn(&str) -> Option<Value>) -> Result<(Arc<str>, Grant, Vec<Right>), Problem> {
    let text = |name: &str| match property(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            let kind = other.value_type().name();
            Err(Problem::invalid(format!("grant: expected a text as {name:?}, found a {kind}")))
        }
    };
    let role = text("role")?.ok_or_else(|| {
        Problem::invalid("grant: expected a \"role\", found none; name the role that it is for")
    })?;
    if super::verb::of_role(&role).is_some() {
        let text =
            format!("grant: expected a role of your own, found {role:?}, which is built in and needs none");
        return Err(Problem::invalid(text));
    }
    let verbs = texts(property("verbs"), "verbs")?;
    let right_of = |verb: &Arc<str>| Right::ALL.into_iter().find(|right| *right.name() == **verb);
    if let Some(other) = verbs.iter().find(|verb| &***verb != "read" && right_of(verb).is_none()) {
        let text = format!(
            "grant: expected verbs of read, create, update, delete and classify, found {other:?}; give a built-in role for it"
        );
        return Err(Problem::invalid(text));
    }
    let rights = verbs.iter().filter_map(right_of).collect();
    let entities: Find = match text("where")? {
        Some(search) => search.parse()?,
        None => Find::all(),
    };
    let under = text("under")?.map(|id| Id::new(&id)).transpose()?;
    let grant = Grant { entities, under, relationships: texts(property("relationships"), "relationships")? };
    grant.check()?;
    Ok((role, grant, rights))
}

/// One text, or a list or set of texts.
fn texts(value: Option<Value>, name: &str) -> Result<Vec<Arc<str>>, Problem> {
    let one = |value: &Value| match value {
        Value::String(text) => Ok(Arc::clone(text)),
        other => {
            let kind = other.value_type().name();
            Err(Problem::invalid(format!("grant: expected texts in {name:?}, found a {kind}")))
        }
    };
    match value {
        None => Ok(Vec::new()),
        Some(Value::List(values)) => values.iter().map(one).collect(),
        Some(Value::Set(values)) => values.iter().map(|value| one(&value)).collect(),
        Some(value) => Ok(vec![one(&value)?]),
    }
}

#[cfg(test)]
mod tests {
    use annals::log::MemoryLog;
    use annals::{InstanceId, NewEntity, Options, Patch, Repository};

    use super::*;

    #[test]
    fn each_change_of_a_grant_is_noticed_while_instants_stand_still() {
        let still: annals::Instant = "2026-11-28".parse().expect("an instant");
        let options = Options { clock: Arc::new(move || still), ..Options::default() };
        let repository = Repository::with_log(Arc::new(MemoryLog::new()), options).expect("a repository");
        let grant = |id: &str| NewEntity::new(GRANT).id(id).map(|new| new.property("role", "readers"));
        repository
            .transact(|t| ["g1", "g2"].into_iter().try_for_each(|id| t.create_entity(grant(id)?).map(drop)))
            .expect("grants");
        let (grants, roles) = (Grants::default(), [Arc::from("readers")]);
        let rights = || grants.rights(&repository.snapshot(), &roles).expect("rights");
        let mut last = rights();
        assert!(Arc::ptr_eq(&last, &rights()));
        for (id, search) in [("g1", "page"), ("g2", "page"), ("g1", "book"), ("g1", "page")] {
            let instance = InstanceId::Entity(id.parse().expect("an id"));
            let change = Patch::new().set("where", search);
            repository.transact(|t| t.update(&instance, change.clone())).expect("a change");
            let now = rights();
            assert!(!Arc::ptr_eq(&last, &now), "{id} {search}");
            last = now;
        }
    }

    /// Story: after a change of any grant each role asked all entities again.
    #[test]
    fn a_role_keeps_its_rights_while_the_grants_of_others_change() {
        let repository = Repository::in_memory();
        let new = |id: &str, role: &str| NewEntity::new(GRANT).id(id).map(|new| new.property("role", role));
        repository
            .transact(|t| {
                [("g1", "one"), ("g2", "two")]
                    .into_iter()
                    .try_for_each(|(id, role)| t.create_entity(new(id, role)?).map(drop))
            })
            .expect("grants");
        let grants = Grants::default();
        let rights = |roles: &[&str]| {
            let roles: Vec<Arc<str>> = roles.iter().map(|role| Arc::from(*role)).collect();
            grants.rights(&repository.snapshot(), &roles).expect("rights")
        };
        let before = [rights(&["one"]), rights(&["two"]), rights(&["two", "one"])];
        let change = |id: &str, search: &str| {
            let instance = InstanceId::Entity(id.parse().expect("an id"));
            repository
                .transact(|t| t.update(&instance, Patch::new().set("where", search)))
                .expect("a change");
        };
        change("g2", "page");
        let after = [rights(&["one"]), rights(&["two"]), rights(&["two", "one"])];
        let kept = std::iter::zip(&before, &after).map(|(before, after)| Arc::ptr_eq(before, after));
        assert_eq!(kept.collect::<Vec<_>>(), [true, false, false]);
        // A first grant of a role is a change, too.
        let none = rights(&["three"]);
        repository.transact(|t| t.create_entity(new("g3", "three")?).map(drop)).expect("a grant");
        assert!(!Arc::ptr_eq(&none, &rights(&["three"])));
        assert!(Arc::ptr_eq(&before[0], &rights(&["one"])));
    }
}
