//! Does nothing: replaces a change of a purged instance in a compacted log.

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field};
use super::context::Context;
use crate::graph::Graph;
use crate::{Position, Result};

/// Does nothing: replaces a change of a purged instance in a compacted log.
#[derive(Clone, Debug, PartialEq)]
pub struct Void;

impl Act for Void {
    const NAME: &'static str = "void";
    const CODES: Codes = Codes::Other(0);
    const FIELDS: &'static [Field] = &[];
    const TOUCHES: Touches = Touches::Nothing;
    const CAN_BE_TAKEN_BACK: bool = true;
    const IS_LOGGED: bool = false;

    fn bag(&self) -> BagRef<'_> {
        BagRef::default()
    }

    fn of(_: Bag) -> Option<Self> {
        Some(Void)
    }

    fn apply(&self, graph: &mut Graph, context: Context) -> Result<()> {
        graph.purges.forget(Position(context.place.position));
        Ok(())
    }
}
