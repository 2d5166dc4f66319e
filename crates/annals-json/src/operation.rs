//! Operations of a transaction as JSON: actions with their valid time, and operations that become actions in its
//! snapshot.

use std::ops::RangeInclusive;

use annals::action;
use annals::{
    Action, EntityProxy, Id, InstanceId, Instant, Keep, Position, RelationshipCopy, Result, Revision,
    TakenBack, Transaction, TypePatch,
};
use serde_json::Value as Json;

use super::candidate::keep_from_text;
use super::change::{action_from_json, instance};
use super::tree_operation::{TreeOperation, tree_operation_from_json};
use super::{
    Object, PROXY_FIELDS, array, boolean, invalid, number, object, only, optional_text, proxy_from_json,
    type_patch_from_json,
};

/// One operation of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    what: What,
    valid_from: Option<Instant>,
    // The version that its instance must have before the transaction.
    if_version: Option<IfVersion>,
    // True if it makes a version even if it changes nothing.
    is_always: bool,
}

/// The version that an instance must have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum IfVersion {
    /// Its latest version; 0 if it must not exist.
    Number(u32),
    /// Its birth and its latest version.
    Revision(Revision),
}

impl IfVersion {
    fn from_json(fields: &Object, what: &str) -> Result<Option<IfVersion>> {
        match fields.get("ifVersion") {
            Some(Json::String(text)) => {
                text.trim_matches('"').parse().map(|revision| Some(IfVersion::Revision(revision)))
            }
            _ => Ok(number(fields, what, "ifVersion")?.map(IfVersion::Number)),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Act(Action),
    // Creates an instance, or replaces the existing one; also its classifications if stated, even if there are none.
    Upsert { new: Action, states_classifications: bool },
    Undo(InstanceId, Undo),
    // Takes records back, as if they were one.
    TakeBack { positions: RangeInclusive<Position>, keep: Option<Keep> },
    // Only checks `if_version`.
    Expect(InstanceId),
    PatchType(Box<TypePatch>),
    SaveRelationship(Box<RelationshipCopy>, Vec<EntityProxy>),
    // A deletion or purge, if the instance has this type, or is deleted.
    Expecting { type_name: Option<String>, is_deleted: bool, action: Action },
    Tree(Box<TreeOperation>),
}

/// The result of an operation, beside its changes.
#[derive(Debug, Default)]
pub struct Added {
    /// The id of the instance that it creates, if it creates one.
    pub created: Option<Id>,
    /// The instances on which later records built, if it takes records back.
    pub taken_back: Option<TakenBack>,
}

/// An operation from its JSON form: that of an action, or `{"action": "undo", "kind": …, "id": …}`. Optional members
/// are `validFrom` for its valid time, `ifVersion` for the version that its instance must have, and `always` to make a
/// version even if it changes nothing.
pub fn operation_from_json(json: &Json) -> Result<Operation> {
    let what = "operation";
    let fields = object(json, what)?;
    if fields.contains_key("always") {
        let is_always = boolean(fields, what, "always", false)?;
        return Ok(Operation { is_always, ..operation_from_json(&without(fields, &["always"]))? });
    }
    if fields.contains_key("ifVersion") {
        let if_version = IfVersion::from_json(fields, what)?;
        let operation = match fields.get("action").and_then(Json::as_str) {
            Some("expect") if if_version.is_some() => {
                only(fields, what, &["action", "kind", "id", "ifVersion"])?;
                Operation::new(What::Expect(instance(fields)?), None)
            }
            _ => operation_from_json(&without(fields, &["ifVersion"]))?,
        };
        if operation.instance().is_none() {
            return Err(invalid("operation: only one about an instance has \"ifVersion\"; leave it out"));
        }
        return Ok(Operation { if_version, ..operation });
    }
    let valid_from = optional_text(fields, what, "validFrom")?.map(str::parse).transpose()?;
    let found = match fields.get("action").and_then(Json::as_str) {
        Some("upsert") => upsert_from_json(fields)?,
        Some("undo") => {
            only(fields, what, &["action", "kind", "id", "of", "validFrom"])?;
            let of = optional_text(fields, what, "of")?.map(undo_from_text).transpose()?;
            What::Undo(instance(fields)?, of.unwrap_or_default())
        }
        Some("take-back") => {
            only(fields, what, &["action", "position", "toPosition", "keep", "validFrom"])?;
            let position = |name| Ok::<_, annals::Error>(number(fields, "take-back", name)?.map(Position));
            let Some(first) = position("position")? else {
                return Err(invalid("take-back: expected the \"position\" of a record, found none"));
            };
            let last = position("toPosition")?.unwrap_or(first);
            let keep = optional_text(fields, what, "keep")?.map(keep_from_text).transpose()?;
            What::TakeBack { positions: first..=last, keep }
        }
        Some("expect") => {
            return Err(invalid("expect: expected a version as \"ifVersion\", found none"));
        }
        Some("patch-type") => {
            only(fields, what, &["action", "type", "validFrom"])?;
            let patch = fields.get("type").unwrap_or(&Json::Null);
            What::PatchType(Box::new(type_patch_from_json(patch)?))
        }
        Some("save-copy") if fields.contains_key("proxies") => {
            let proxies = array(fields, what, "proxies")?.iter().map(|json| {
                let fields = object(json, "proxy")?;
                only(fields, "proxy", &PROXY_FIELDS)?;
                proxy_from_json(fields, "proxy")
            });
            match action_from_json(&without(fields, &["proxies"]))? {
                Action::SaveRelationship(copy) => {
                    What::SaveRelationship(copy, proxies.collect::<Result<_>>()?)
                }
                _ => return Err(invalid("save-copy: only relationships have proxies")),
            }
        }
        Some("delete" | "purge") if fields.contains_key("type") || fields.contains_key("deletedOnly") => {
            What::Expecting {
                type_name: optional_text(fields, what, "type")?.map(str::to_owned),
                is_deleted: boolean(fields, what, "deletedOnly", false)?,
                action: action_from_json(&without(fields, &["type", "deletedOnly"]))?,
            }
        }
        Some(action) => match tree_operation_from_json(action, fields)? {
            Some(operation) => What::Tree(Box::new(operation)),
            None => What::Act(action_from_json(json)?),
        },
        None => What::Act(action_from_json(json)?),
    };
    Ok(Operation::new(found, valid_from))
}

/// The part of an instance whose last change an undo takes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undo {
    /// The last version, whatever it changed.
    #[default]
    Version,
    /// The last change of properties.
    Content,
}

/// `version`, the default, or `content`.
///
/// Errors: `InvalidArgument`.
pub fn undo_from_text(text: &str) -> Result<Undo> {
    match text {
        "version" => Ok(Undo::Version),
        "content" => Ok(Undo::Content),
        other => Err(invalid(format!("of: expected \"version\" or \"content\", found {other:?}"))),
    }
}

impl Undo {
    /// Adds it to a transaction.
    pub fn add_to(self, transaction: &mut Transaction, instance: &InstanceId) -> Result<()> {
        match self {
            Undo::Version => transaction.undo(instance),
            Undo::Content => transaction.undo_content(instance),
        }
    }
}

/// An upsert has the members of a creation, and an id.
fn upsert_from_json(fields: &Object) -> Result<What> {
    if !fields.contains_key("id") {
        let text =
            "operation upsert: expected the \"id\" of the instance, found none; give it, or use create";
        return Err(invalid(text));
    }
    let mut created = fields.clone();
    created.insert("action".into(), "create".into());
    let states_classifications = fields.contains_key("classifications");
    Ok(What::Upsert { new: action_from_json(&Json::Object(created))?, states_classifications })
}

/// Creates an instance, or replaces the existing one by `new`; true if it is created.
pub fn upsert(transaction: &mut Transaction, new: Action, states_classifications: bool) -> Result<bool> {
    match new {
        Action::CreateEntity(new) if states_classifications => transaction.upsert_whole_entity(new),
        Action::CreateEntity(new) => transaction.upsert_entity(new),
        Action::CreateRelationship(new) => transaction.upsert_relationship(new),
        other => unreachable!("{} is no creation", other.verb()),
    }
}

fn without(fields: &Object, names: &[&str]) -> Json {
    let rest = fields.iter().filter(|(name, _)| !names.contains(&name.as_str()));
    Json::Object(rest.map(|(name, value)| (name.clone(), value.clone())).collect())
}

impl Operation {
    fn new(what: What, valid_from: Option<Instant>) -> Operation {
        Operation { what, valid_from, if_version: None, is_always: false }
    }

    /// The id of its instance.
    pub fn id(&self) -> Option<Id> {
        self.instance().map(|instance| instance.id().clone())
    }

    /// True if the receipt of a transaction has an id for it: it creates an instance, or writes an item of a tree.
    pub fn is_creating(&self) -> bool {
        match &self.what {
            What::Act(Action::CreateEntity(_) | Action::CreateRelationship(_)) => true,
            What::Tree(operation) => operation.change.has_id(),
            _ => false,
        }
    }

    /// True if a writer with grants may send it: everything that it reads and changes is checked.
    pub fn may_be_limited(&self) -> bool {
        !matches!(self.what, What::TakeBack { .. } | What::PatchType(_) | What::SaveRelationship(..))
    }

    /// True if it takes only a few look-ups and changes: all operations except some changes of trees, and the taking back
    /// of records, which reads them.
    pub fn is_short(&self) -> bool {
        match &self.what {
            What::Tree(operation) => operation.change.is_short(),
            What::TakeBack { .. } => false,
            _ => true,
        }
    }

    fn instance(&self) -> Option<InstanceId> {
        match &self.what {
            What::Act(action) | What::Expecting { action, .. } | What::Upsert { new: action, .. } => {
                action.instance()
            }
            What::Undo(instance, _) | What::Expect(instance) => Some(instance.clone()),
            What::PatchType(_) | What::Tree(_) | What::TakeBack { .. } => None,
            What::SaveRelationship(copy, _) => Some(InstanceId::Relationship(copy.id.clone())),
        }
    }

    /// Adds it to a transaction; its own valid time has priority over `valid_from`. If it, or the transaction, has
    /// `always`, it is kept even if it changes nothing.
    ///
    pub fn add_to(&self, transaction: &mut Transaction, valid_from: Option<Instant>) -> Result<Added> {
        transaction.valid_from(self.valid_from.or(valid_from));
        if let Some(instance) = self.if_version.and_then(|_| self.instance()) {
            match self.if_version {
                Some(IfVersion::Number(version)) => transaction.expect_version(&instance, version)?,
                Some(IfVersion::Revision(revision)) => transaction.expect_revision(&instance, revision)?,
                None => {}
            }
        }
        let (is_always, is_as_declared) = (transaction.is_always(), transaction.is_as_declared());
        transaction.always(is_always || self.is_always).as_declared(true);
        let outcome = self.add_what_to(transaction);
        transaction.always(is_always).as_declared(is_as_declared);
        outcome
    }

    fn add_what_to(&self, transaction: &mut Transaction) -> Result<Added> {
        if let What::TakeBack { positions, keep } = &self.what {
            let taken = transaction.take_back_all(positions.clone(), *keep)?;
            return Ok(Added { created: None, taken_back: Some(taken) });
        }
        Ok(Added { created: self.create_in(transaction)?, taken_back: None })
    }

    fn create_in(&self, transaction: &mut Transaction) -> Result<Option<Id>> {
        match &self.what {
            What::Upsert { new, states_classifications } => {
                let is_created = upsert(transaction, new.clone(), *states_classifications)?;
                Ok(self.id().filter(|_| is_created))
            }
            What::Act(Action::CreateEntity(new)) => transaction.create_entity(new.clone()).map(Some),
            What::Act(Action::CreateRelationship(new)) => {
                transaction.create_relationship(new.clone()).map(Some)
            }
            What::Act(Action::Classify(action::Classify { entity, content })) => {
                transaction.classify(entity, content.clone()).map(|()| None)
            }
            What::Act(Action::SaveEntity(copy)) => {
                transaction.save_entity_copy((**copy).clone()).map(|()| None)
            }
            What::Act(Action::SaveProxy(proxy)) => transaction.save_proxy((**proxy).clone()).map(|()| None),
            What::Act(action) => transaction.push_action(action.clone()).map(|()| None),
            What::SaveRelationship(copy, proxies) => {
                transaction.save_relationship_copy((**copy).clone(), proxies.clone()).map(|()| None)
            }
            What::Expecting { type_name, is_deleted, action } => {
                let instance = action.instance().expect("deletions and purges name an instance");
                if let Some(type_name) = type_name {
                    transaction.expect_type(&instance, type_name)?;
                }
                if *is_deleted {
                    transaction.expect_deleted(&instance)?;
                }
                transaction.push_action(action.clone()).map(|()| None)
            }
            What::Expect(_) => Ok(None),
            What::Undo(instance, of) => of.add_to(transaction, instance).map(|()| None),
            What::TakeBack { .. } => Ok(None),
            What::PatchType(patch) => transaction.patch_type(patch).map(|()| None),
            What::Tree(operation) => operation.add_to(transaction),
        }
    }
}
