//! `annals shared`: what two entities have in common.

use annals::Id;
use clap::Args;

use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::output::{Table, properties_summary};
use crate::stop::Outcome;
use crate::wire::SharedForm;

/// List the neighbours that two entities share, or with --depth-max everything where their ways cross
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals shared ada charles
  annals shared package:bash package:dash --direction out --depth-max 3
With --json each line is {\"distances\", \"entity\"}.")]
pub struct Arguments {
    /// One entity
    from: Id,
    /// The other one
    to: Id,
    #[command(flatten)]
    walk: WalkArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the entities with their distances from both.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    let mut table = Table::new(&["STEPS", "ID", "TYPE", "PROPERTIES"]);
    for shared in snapshot.shared(&arguments.from, &arguments.to, &arguments.walk.reach_near())? {
        if context.output.is_json() {
            context.output.json(&SharedForm::of(&shared)?)?;
            continue;
        }
        let entity = shared.entity()?;
        table.row([
            format!("{}, {}", shared.distances[0], shared.distances[1]),
            entity.id().to_string(),
            entity.type_name().to_owned(),
            properties_summary(entity.properties()),
        ]);
    }
    if context.output.is_json() { Ok(()) } else { context.output.table(&table) }
}
