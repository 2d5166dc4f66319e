//! The changes of ACLs of the LDP door, which other doors make for admins only, and of addresses, which no door makes.

use annals::{Action, Direction, Entity, Id, InstanceId, Snapshot, Transaction, TypeKind};

use super::principal::Principal;
use super::verb::{Verb, Verbs};
use crate::ldp_types::{ACL, NODE, PART, PLACEHOLDER, is_addressed, is_of_acls};
use crate::protocol::problem::Problem;

/// Refuses a transaction that changes an ACL, unless its client is an admin, or an ACL lets it.
///
/// Errors: `forbidden`; `invalid-argument` for another id of a resource.
pub fn check_acls(principal: &Principal, transaction: &Transaction) -> Result<(), Problem> {
    transaction.actions().try_for_each(|action| check_address(transaction.base(), action))?;
    let administer = Verbs::of(&[Verb::Administer]);
    let is_allowed = principal.verbs.has_all(administer);
    // A client with grants may see a node, and not the ACL that has it.
    let is_blind = principal.is_granted();
    match !is_allowed && transaction.actions().any(|action| changes_acl(transaction, action, is_blind)) {
        true => Err(principal.forbidden(administer, "all")),
        false => Ok(()),
    }
}

/// Refuses another id of a resource of the LDP door: its id is its address, where ACLs are looked for, and an address that an
/// entity had once is free for no other one.
fn check_address(base: &Snapshot, action: &Action) -> Result<(), Problem> {
    let Action::Reidentify(change) = action else { return Ok(()) };
    let InstanceId::Entity(id) = &change.instance else { return Ok(()) };
    let type_name = base.entity_summary(id)?.map(|known| known.type_name().to_owned());
    if !type_name.is_some_and(|name| is_addressed(base, &name)) {
        return Ok(());
    }
    Err(Problem::invalid(format!(
        "entity {id}: expected an entity other than a resource of the LDP door, whose id is its address; make a resource at the other \
         address, and delete this one"
    )))
}

/// True if an action changes an ACL: its entity, its nodes, or what leads to them.
///
/// An ACL that goes with its resource is no change of it: the resource is deleted, or becomes a placeholder.
fn changes_acl(transaction: &Transaction, action: &Action, is_blind: bool) -> bool {
    let base = transaction.base();
    let bag = action.bag();
    // `name` is a type.
    if bag.name.is_some_and(|name| is_of_acls(name)) {
        return true;
    }
    // A repository without this type never had an ACL.
    if base.type_definition(TypeKind::Relationship, ACL).is_none() {
        return false;
    }
    if bag.from.is_some_and(|from| is_acl(base, from)) {
        return true;
    }
    let listed = bag.instances.into_iter().flatten();
    action.instance().iter().chain(listed).any(|instance| match instance {
        InstanceId::Entity(id) => {
            let is_changed = is_acl(base, id) || is_part_of_acl(base, id, is_blind);
            is_changed && !(action.verb() == "delete" && goes_with_resource(transaction, id))
        }
        InstanceId::Relationship(id) => is_relationship_of_acl(base, id),
    })
}

/// True for an ACL, also a deleted one.
fn is_acl(base: &Snapshot, id: &Id) -> bool {
    match base.entity(id) {
        Ok(Some(entity)) => is_of_acls(entity.type_name()),
        _ => last_type(base, id).is_some_and(|name| is_of_acls(&name)),
    }
}

fn last_type(base: &Snapshot, id: &Id) -> Option<String> {
    let versions = base.versions(&InstanceId::Entity(id.clone()), 0, 2).ok()?;
    let known = |version: u32| Some(base.entity_version(id, version).ok()??.type_name().to_owned());
    versions.iter().find_map(|version| known(version.version))
}

/// True for a node of an ACL; without sight of its owner, also for one that may be.
fn is_part_of_acl(base: &Snapshot, id: &Id, is_blind: bool) -> bool {
    let Ok(Some(entity)) = base.entity(id) else { return false };
    entity.type_name() == NODE && above(&entity, PART).map_or(is_blind, |owner| is_of_acls(owner.type_name()))
}

fn is_relationship_of_acl(base: &Snapshot, id: &Id) -> bool {
    match base.relationship(id) {
        Ok(Some(link)) => is_of_acls(link.type_name()) || is_acl(base, link.from()),
        _ => {
            let versions = base.versions(&InstanceId::Relationship(id.clone()), 0, 2).unwrap_or_default();
            versions.iter().any(|version| match base.relationship_version(id, version.version) {
                Ok(Some(link)) => is_of_acls(link.type_name()) || is_acl(base, link.from()),
                _ => false,
            })
        }
    }
}

/// The entity that contains another one by this relationship.
fn above<'s>(entity: &Entity<'s>, containment: &str) -> Option<Entity<'s>> {
    entity.neighbors(Direction::In, Some(containment)).entities().next()?.ok()
}

/// True if the resource of an ACL becomes a placeholder in the same transaction.
fn goes_with_resource(transaction: &Transaction, acl: &Id) -> bool {
    let Ok(Some(entity)) = transaction.base().entity(acl) else { return false };
    let Some(resource) = above(&entity, ACL) else { return false };
    let resource = resource.instance_id();
    transaction.actions().any(|action| {
        action.verb() == "retype"
            && action.instance().as_ref() == Some(&resource)
            && action.bag().name.is_some_and(|name| **name == *PLACEHOLDER)
    })
}
