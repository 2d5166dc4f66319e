//! The verbs that the changes of a transaction need, whichever door made them.

use annals::{Action, Id, InstanceId, Relationship, Snapshot, Transaction, TypeDefinition, TypeKind};

use super::grants::{GRANT, grant_of};
use super::principal::Principal;
use super::verb::{Verb, Verbs};
use crate::ldp_types::is_of_door;
use crate::protocol::problem::Problem;

/// The last versions of a deleted instance that are asked for its type.
const VERSIONS_ASKED: usize = 4;

/// Refuses a transaction with a change that the roles of its client do not allow. Changes of the instance `own` need none.
///
/// Errors: `forbidden`.
pub fn check_changes(
    principal: &Principal,
    transaction: &Transaction,
    own: Option<&InstanceId>,
) -> Result<(), Problem> {
    let base = transaction.base();
    transaction.actions().try_for_each(|action| check_grant(base, action))?;
    if principal.verbs == Verbs::ALL {
        return Ok(());
    }
    for action in transaction.actions() {
        if own.is_some() && action.instance().as_ref() == own {
            continue;
        }
        if matches!(action, Action::DefineType(definition) if comes_by_itself(definition)) {
            continue;
        }
        let mut needed = of_verb(action.verb());
        if action.bag().classifications.is_some_and(|all| !all.is_empty()) {
            needed = needed.and(Verbs::of(&[Verb::Classify]));
        }
        if is_own(base, action) {
            needed = needed.and(Verbs::of(&[Verb::Administer]));
        }
        if !principal.verbs.has_all(needed) {
            return Err(principal.forbidden(needed, "all"));
        }
    }
    let administer = Verbs::of(&[Verb::Administer]);
    if !principal.verbs.has_all(administer) && transaction.takes_internal_along()? {
        return Err(principal.forbidden(administer, "all"));
    }
    Ok(())
}

/// Refuses a grant that says nothing clear: it would admit nothing.
fn check_grant(base: &Snapshot, action: &Action) -> Result<(), Problem> {
    let properties = match action {
        Action::CreateEntity(new) if is_grant(base, &new.type_name) => &new.properties,
        Action::Replace(replace) => match &replace.instance {
            InstanceId::Entity(id) if is_of_grant(base, id) => &replace.properties,
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    let property = |name: &str| {
        let last = properties.iter().rev().find(|(known, _)| **known == *name);
        last.map(|(_, value)| value.clone())
    };
    grant_of(property).map(drop)
}

fn is_of_grant(base: &Snapshot, id: &Id) -> bool {
    base.entity(id).is_ok_and(|found| found.is_some_and(|it| is_grant(base, it.type_name())))
}

/// True for the type of grants and its subtypes.
fn is_grant(base: &Snapshot, type_name: &str) -> bool {
    base.is_subtype(TypeKind::Entity, type_name, GRANT)
}

/// The verbs that an action needs. An unknown one is for admins only.
fn of_verb(action: &str) -> Verbs {
    Verbs::of(match action {
        "create" | "restore" | "save-proxy" => &[Verb::Create],
        "update" | "replace" | "set-status" | "retype" | "reidentify" | "relink" | "rehome"
        | "set-provenance" => &[Verb::Update],
        "delete" => &[Verb::Delete],
        "classify" | "reclassify" | "declassify" => &[Verb::Classify],
        "purge" | "purge-copy" | "purge-classification-copy" => &[Verb::Purge],
        "save-copy" => &[Verb::Create, Verb::SignForOthers],
        "save-classification-copy" => &[Verb::Classify, Verb::SignForOthers],
        "define-type" | "name-collection" => &[Verb::Define],
        "void" => &[],
        _ => &Verb::ALL,
    })
}

/// True for a type that the first write of a tree or of the LDP door declares, whoever sends it.
fn comes_by_itself(definition: &TypeDefinition) -> bool {
    *definition == TypeDefinition::relationship("contains").containing() || is_of_door(definition)
}

/// True if an action writes what the repository stores about itself, or a relationship of it: its container could be deleted
/// with it.
fn is_own(base: &Snapshot, action: &Action) -> bool {
    let is_own = |name: &str| base.is_internal(name);
    let defines_own =
        |one: &TypeDefinition| is_own(&one.name) || one.supertypes.iter().any(|name| is_own(name));
    let bag = action.bag();
    // `name` is a type or a classification.
    if bag.name.is_some_and(|name| is_own(name)) || bag.definition.is_some_and(defines_own) {
        return true;
    }
    // A deleted instance has its type in its versions.
    let is_deleted = action.verb() == "restore";
    let of_instance = |instance: &InstanceId| {
        types_of(base, instance).iter().any(|name| is_own(name))
            || is_deleted && types_before(base, instance).iter().any(|name| is_own(name))
    };
    let ends = bag.from.into_iter().chain(bag.to).map(|end| InstanceId::Entity(end.clone()));
    action.instance().into_iter().chain(ends).any(|instance| of_instance(&instance))
        || bag.instances.into_iter().flatten().any(of_instance)
}

/// The type of an instance, and those of its ends; none if it is not there.
fn types_of(base: &Snapshot, instance: &InstanceId) -> Vec<String> {
    match instance {
        InstanceId::Entity(id) => {
            let found = base.entity_summary(id).ok().flatten();
            found.iter().map(|known| known.type_name().to_owned()).collect()
        }
        InstanceId::Relationship(id) => {
            base.relationship(id).ok().flatten().as_ref().map(with_ends).unwrap_or_default()
        }
    }
}

/// The types of an instance, and of its ends, in its last versions.
fn types_before(base: &Snapshot, instance: &InstanceId) -> Vec<String> {
    let of_version = |version: u32| match instance {
        InstanceId::Entity(id) => Some(vec![base.entity_version(id, version).ok()??.type_name().to_owned()]),
        InstanceId::Relationship(id) => base.relationship_version(id, version).ok()?.as_ref().map(with_ends),
    };
    let versions = base.versions(instance, 0, VERSIONS_ASKED).unwrap_or_default();
    versions.iter().filter_map(|known| of_version(known.version)).flatten().collect()
}

fn with_ends(link: &Relationship<'_>) -> Vec<String> {
    let ends = [link.from_entity(), link.to_entity()].into_iter().filter_map(|end| end.ok().flatten());
    let ends = ends.map(|end| end.type_name().to_owned());
    std::iter::once(link.type_name().to_owned()).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_action_has_its_verbs() {
        for form in Action::FORMS {
            let needed = of_verb(form.verb);
            assert_ne!(needed, Verbs::ALL, "{} has no row", form.verb);
            assert_eq!(needed == Verbs::NONE, form.verb == "void", "{}", form.verb);
        }
        assert_eq!(of_verb("conquer"), Verbs::ALL);
    }
}
