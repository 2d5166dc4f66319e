//! Grants in the graph: entities of the type `annals.Grant`, each of which lets a role read, and perhaps change, some
//! entities.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use annals::{Entity, Find, Grant, Id, Position, Right, Rights, Snapshot, Value};

use crate::problem::Problem;

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
        let state = State::of(snapshot)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Grants of now hold for a reader of an earlier snapshot, too.
        if kept.state != state && snapshot.position() >= kept.position {
            let (position, by_role) = (snapshot.position(), by_role(snapshot)?);
            *kept = Kept { state, position, checked: position, by_role, rights: HashMap::new() };
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

    /// The same, if it takes no longer than a look-up, also to see the snapshot with it.
    ///
    /// Errors: those of looking whether a grant has changed.
    pub fn ready(&self, snapshot: &Snapshot, roles: &[Arc<str>]) -> annals::Result<Option<Arc<Rights>>> {
        let position = snapshot.position();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Most reads are at the position of the read before.
        if kept.checked != position {
            if kept.state != State::of(snapshot)? {
                return Ok(None);
            }
            kept.checked = kept.checked.max(position);
        }
        let rights = kept.rights.get(&sorted(roles));
        Ok(rights.filter(|rights| rights.sight().is_ready_for(snapshot)).cloned())
    }
}

fn sorted(roles: &[Arc<str>]) -> Vec<Arc<str>> {
    let mut roles = roles.to_vec();
    roles.sort_unstable();
    roles.dedup();
    roles
}

impl State {
    fn of(snapshot: &Snapshot) -> annals::Result<State> {
        let all = Find::of(GRANT);
        let count = found(snapshot.count_entities(&all))?.unwrap_or_default();
        let latest: Find = format!("{GRANT} order by @updatedAt desc limit 1").parse()?;
        let latest = found(snapshot.find_entities(&latest))?;
        let last = latest.and_then(|page| page.items.first().map(Entity::position)).unwrap_or_default();
        Ok(State { count, last })
    }
}

/// `None` if the repository never had a grant.
fn found<T>(result: annals::Result<T>) -> annals::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == annals::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
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
