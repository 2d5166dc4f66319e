//! Names the collection of this repository; once.

use std::sync::Arc;

use super::act::{Act, Codes, Touches};
use super::bag::{Bag, BagRef, Field, Key};
use super::context::Context;
use crate::graph::Graph;
use crate::{Error, ErrorKind, Result};

/// Names the collection of this repository; once.
#[derive(Clone, Debug, PartialEq)]
pub struct NameCollection {
    /// The name.
    pub name: Arc<str>,
}

impl Act for NameCollection {
    const NAME: &'static str = "name-collection";
    const CODES: Codes = Codes::Other(34);
    const FIELDS: &'static [Field] = &[Field::required(Key::Text, "collection")];
    const TOUCHES: Touches = Touches::Everything;
    const MAY_CHANGE_NOTHING: bool = true;

    fn bag(&self) -> BagRef<'_> {
        BagRef { text: Some(&self.name), ..BagRef::default() }
    }

    fn of(bag: Bag) -> Option<Self> {
        Some(NameCollection { name: bag.text? })
    }

    fn is_unchanged(&self, graph: &Graph) -> Result<bool> {
        Ok(graph.collection.as_ref() == Some(&self.name))
    }

    fn apply(&self, graph: &mut Graph, _: Context) -> Result<()> {
        let NameCollection { name } = self;
        crate::model::check_name("collection", name)?;
        if let Some(known) = graph.collection.as_ref().filter(|known| *known != name) {
            let text = format!("collection {name}: this repository is the collection {known}, and stays it");
            return Err(Error::new(ErrorKind::AlreadyExists, text));
        }
        // Also copies of earlier times, and of classifications: history names the home of a copy by its present name.
        if graph.headers.iter().any(|known| known.home() == Some(name)) {
            let text = format!(
                "collection {name}: copies of that collection are or were kept here; take another name"
            );
            return Err(Error::new(ErrorKind::HomeConflict, text));
        }
        graph.collection = Some(Arc::clone(name));
        Ok(())
    }
}
