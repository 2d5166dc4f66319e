//! All entries of a list in one commit, each by its path: created, and removed.

use std::path::Path;

use annals::{AttributeDefinition, Repository, TreePath, TypeDefinition, ValueType};

use crate::once;
use crate::outcome::Outcome;

const ENTRIES: u32 = 1_000;

/// Creates and removes the entries, once to warm up and once that counts.
pub fn run(folder: &Path) -> Outcome<()> {
    let repository = Repository::open(folder)?;
    repository.transact(|transaction| {
        let key = |name: &str, value_type| AttributeDefinition::new(name, value_type).key();
        let entry = TypeDefinition::entity("lst").attribute(key("k1", ValueType::Integer));
        let entry = entry.attribute(key("k2", ValueType::String));
        transaction.define_type(entry.attribute(AttributeDefinition::new("l", ValueType::String)))?;
        transaction.define_type(TypeDefinition::relationship("contains").containing())
    })?;
    create(&repository)?;
    remove(&repository)?;
    once("list-create", ENTRIES as usize, || create(&repository))?;
    once("list-remove", ENTRIES as usize, || remove(&repository))?;
    Ok(repository.close()?)
}

fn create(repository: &Repository) -> Outcome<()> {
    repository.transact(|transaction| {
        let mut tree = transaction.tree();
        (0..ENTRIES).try_for_each(|number| {
            let path = TreePath::parse(&format!("/cont/lst[k1='{number}'][k2='str{number}']/l"))?;
            tree.set(&path, format!("l{number}"))
        })
    })?;
    Ok(())
}

fn remove(repository: &Repository) -> Outcome<()> {
    repository.transact(|transaction| {
        let mut tree = transaction.tree();
        (0..ENTRIES).try_for_each(|number| {
            let path = TreePath::parse(&format!("/cont/lst[k1='{number}'][k2='str{number}']"))?;
            tree.remove(&path).map(drop)
        })
    })?;
    Ok(())
}
