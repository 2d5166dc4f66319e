//! Readers and writers with grants.

use std::sync::Arc;

use annals::*;

use super::named::id;

/// In everything that is hidden.
pub const CANARY: &str = "CANARY";

/// A grant of what a search finds, or of that part of it that is in a container.
pub fn grant(search: &str, under: Option<&str>) -> Grant {
    Grant { entities: search.parse().unwrap(), under: under.map(id), ..Grant::default() }
}

pub fn sight(grants: &[(&str, Option<&str>)]) -> Arc<Sight> {
    Arc::new(Sight::new(grants.iter().map(|(search, under)| grant(search, *under)).collect()).unwrap())
}

/// Rights to all that the grants admit.
pub fn rights(grants: &[(&str, Option<&str>)]) -> Arc<Rights> {
    let all = grants.iter().map(|(search, under)| (grant(search, *under), Right::ALL.to_vec()));
    Arc::new(Rights::new(&all.collect::<Vec<_>>()).unwrap())
}

/// Reads and writes everything that is not secret.
pub fn open_rights() -> Arc<Rights> {
    rights(&[("* where not classified secret", None)])
}

pub fn secret() -> ClassificationContent {
    ClassificationContent::new("secret")
}

pub fn commit(repository: &Repository, work: impl FnMut(&mut Transaction) -> Result<()>) {
    repository.transact(work).unwrap();
}

/// A transaction of a writer with these rights.
pub fn limited<T>(
    repository: &Repository,
    rights: &Arc<Rights>,
    mut work: impl FnMut(&mut Transaction) -> Result<T>,
) -> Result<(T, Receipt)> {
    repository.transact(|t| {
        t.limit_to(rights)?;
        work(t)
    })
}
