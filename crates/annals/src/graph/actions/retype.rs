//! Changes the type of an instance.

use std::sync::Arc;

use super::act::{Act, Codes, Touches, VersionStep};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::graph::instance::headers::RowHeader;
use crate::graph::instance::unpacked::Instance;
use crate::graph::integrity::status::ACTIVE;
use crate::graph::structures::symbols::Symbol;
use crate::graph::{Graph, kind_of};
use crate::model::{Direction, InstanceId, TypeKind};
use crate::{Error, ErrorKind, Result};

/// Changes the type of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Retype {
    /// The instance.
    pub instance: InstanceId,
    /// Its new type.
    pub type_name: Arc<str>,
}

impl Act for Retype {
    const NAME: &'static str = "retype";
    const CODES: Codes = Codes::Both(25, 26);
    const FIELDS: &'static [Field] = &[Field::required(Key::Id, "id"), Field::required(Key::Name, "type")];
    const TOUCHES: Touches = Touches::Shape;
    const CAN_BE_TAKEN_BACK: bool = true;
    const IS_ANCHORED: bool = true;
    const MAY_CHANGE_NOTHING: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { name: Some(&self.type_name), ..BagRef::of(&self.instance) }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(Retype { instance: bag.instance()?, type_name: bag.name? })
    }

    fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
        let known = graph.own(&self.instance)?;
        Ok(graph.names.find(&self.type_name) == Some(known.type_name))
    }

    fn undo(step: &VersionStep) -> Option<Self> {
        let type_name = || Arc::clone(step.graph.names.name(step.was.type_name));
        (step.was.type_name != step.is.type_name)
            .then(|| Retype { instance: step.instance.clone(), type_name: type_name() })
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        let Retype { instance, type_name } = self;
        let kind = kind_of(instance);
        let (slot, before) = graph.own_live(context, instance)?;
        let type_name = graph.symbol("type", type_name)?;
        let is_declared = |name: Symbol| graph.types.get(kind, name).is_some();
        if is_declared(before.type_name) && !is_declared(type_name) {
            let name = graph.names.name(type_name);
            let text = format!("{instance}: expected a declared {} type, found {name}", kind.name());
            return Err(Error::new(ErrorKind::WrongType, text));
        }
        let known = RowHeader::clone(graph.headers.get(before.header));
        graph.new_status(kind, type_name, Some(known.status.as_ref().unwrap_or(&ACTIVE.into())))?;
        let mut after = Instance { type_name, ..before.next_version(context) };
        after.header = graph.reshaped(&before, &after, known);
        graph.check_instance(kind, &after, Some(slot))?;
        graph.check_content(kind, &after)?;
        match kind {
            TypeKind::Relationship => graph.move_link(slot, &before, &after)?,
            _ => graph.check_links(slot, &before, &after)?,
        }
        graph.put(kind, slot, &before, after, Vec::new())?;
        Ok(())
    }
}

impl Graph {
    /// Refuses a new type of an entity that its relationships cannot lead to. It checks each declared type of
    /// relationships once, for any number of relationships.
    fn check_links(&self, slot: u32, before: &Instance, after: &Instance) -> Result<()> {
        for (name, declared) in self.types.of_kind(TypeKind::Relationship) {
            for (_, definitions) in self.enforced_ends(declared) {
                for (end, direction) in definitions.iter().zip([Direction::Out, Direction::In]) {
                    let fits = |instance: &Instance| {
                        end.type_name.as_ref().is_none_or(|expected| {
                            let expected = self.names.find(expected);
                            expected.is_some_and(|expected| {
                                self.types.is_a(TypeKind::Entity, instance.type_name, expected)
                            })
                        })
                    };
                    let is_broken = fits(before) && !fits(after);
                    if is_broken && self.neighbors(slot, direction).degree(Some(name)) > 0 {
                        let text = format!(
                            "entity {}: a relationship of type {} needs a {} there, found the type {}",
                            after.id,
                            declared.definition.name,
                            end.type_name.as_deref().unwrap_or_default(),
                            self.names.name(after.type_name)
                        );
                        return Err(Error::new(ErrorKind::InvalidEnds, text));
                    }
                }
            }
        }
        Ok(())
    }
}
