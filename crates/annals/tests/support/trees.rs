//! Paths and edits of trees, and the two lists of a published page of a configuration store.

use annals::*;

pub fn path(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

pub fn edit<T>(repository: &Repository, mut work: impl FnMut(&mut TreeEdit<'_>) -> Result<T>) -> Result<T> {
    repository.transact(|t| work(&mut t.tree())).map(|(done, _)| done)
}

/// Declares `lst`, ordered by two keys, and `usr-lst`, which users order.
pub fn declare_lists(repository: &Repository) {
    repository
        .transact(|t| {
            let key = |name: &str, value_type| AttributeDefinition::new(name, value_type).key();
            let text = AttributeDefinition::new("l", ValueType::String);
            let lst = TypeDefinition::entity("lst").attribute(key("k1", ValueType::Integer));
            t.define_type(lst.attribute(key("k2", ValueType::String)).attribute(text.clone()))?;
            t.define_type(
                TypeDefinition::entity("usr-lst").attribute(key("k", ValueType::Integer)).attribute(text),
            )?;
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            let orders = TypeDefinition::relationship("orders").containing_in_order();
            t.define_type(orders.between(EndDefinition::ANY, EndDefinition::many("usr-lst")))
        })
        .unwrap();
}
