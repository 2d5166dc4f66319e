//! Refuses a classification that is probably misspelt: it would be a new one beside the declared one.

use super::transaction::Transaction;
use crate::graph::Graph;
use crate::model::{Action, TypeKind};
use crate::{Error, ErrorKind, Result};

impl Transaction {
    /// Checks the names of the classifications that an action adds to an entity. It does not check names that the log
    /// has, nor history from elsewhere.
    ///
    /// Errors: `InvalidClassification` for a name that is neither declared nor in use, and differs from a declared one
    /// in upper and lower case only.
    pub(super) fn check_classifications(&mut self, action: &Action) -> Result<()> {
        let contents = action.given_classifications();
        if contents.is_empty() || self.is_history() {
            return Ok(());
        }
        let graph = self.typed()?.graph();
        contents.iter().try_for_each(|content| check_case(graph, &content.name))
    }
}

fn check_case(graph: &Graph, name: &str) -> Result<()> {
    let kind = TypeKind::Classification;
    if graph.names.find(name).is_some_and(|symbol| graph.is_type_known(kind, symbol)) {
        return Ok(());
    }
    let lower = name.to_lowercase();
    let mut declared = graph.types.of_kind(kind).map(|(_, known)| &known.definition.name);
    match declared.find(|known| known.to_lowercase() == lower) {
        None => Ok(()),
        Some(meant) => Err(Error::new(
            ErrorKind::InvalidClassification,
            format!(
                "classification {name}: expected the declared classification {meant}, found a name that differs in \
                 upper and lower case only; write {meant}, or declare {name} too"
            ),
        )),
    }
}
