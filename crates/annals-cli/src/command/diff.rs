//! `annals diff`: what differs between two versions, or between two positions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use annals::{
    Difference, Error, ErrorKind, Id, InstanceChange, Position, PropertyDifference, Provenance, Value,
};
use annals_exchange::text::{one_line, value_to_text};
use annals_json::{difference_to_json, instance_change_to_json};
use clap::Args;

use super::selection::InstanceArgument;
use crate::context::{AsOfArguments, Context};
use crate::output::provenance_texts;
use crate::stop::Outcome;

/// Show what differs between two versions, or between two positions
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals diff package:bash 1 2
  annals diff --positions 100 200       what became of every instance
Names with @ are those of the header, such as @status, @type and @home; others are properties.
With --json and --positions each line is one instance.")]
pub struct Arguments {
    /// Id of an entity, or of a relationship if no entity has it
    #[arg(required_unless_present = "positions", requires_all = ["before", "after"])]
    id: Option<Id>,
    /// The earlier version
    before: Option<u32>,
    /// The later version
    after: Option<u32>,
    /// Take the id for that of a relationship
    #[arg(long = "relationship")]
    is_relationship: bool,
    /// Compare the repository at two positions instead
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], conflicts_with = "id")]
    positions: Option<Vec<u64>>,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the differences.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    if let Some(positions) = &arguments.positions {
        let (from, to) = (Position(positions[0]), Position(positions[1]));
        if to > snapshot.position() {
            let text = format!("position {to}: expected at most {}", snapshot.position());
            return Err(Error::new(ErrorKind::NotFound, text).into());
        }
        snapshot.changes(from, to)?.try_for_each(|change| print_change(context, &change?))?;
        context.output.end_list();
        return Ok(());
    }
    let (Some(id), Some(before), Some(after)) = (&arguments.id, arguments.before, arguments.after) else {
        return Err(Error::new(ErrorKind::InvalidArgument, "expected an id and two versions").into());
    };
    let instance = InstanceArgument { id: id.clone(), is_relationship: arguments.is_relationship };
    let instance = instance.find(&snapshot)?;
    let difference = snapshot.difference(&instance, before, after)?;
    if context.output.is_json() {
        return context.output.json(&difference_to_json(&difference));
    }
    if difference.is_empty() {
        return context.output.line(format!("{instance}: versions {before} and {after} do not differ"));
    }
    context.output.line(format!("{instance}: version {before} to {after}"))?;
    print_difference(context, &difference)
}

fn print_change(context: &mut Context, change: &InstanceChange) -> Outcome {
    if context.output.is_json() {
        return context.output.json(&instance_change_to_json(change));
    }
    match change {
        InstanceChange::Appeared(id) => context.output.line(format!("+ {id}")),
        InstanceChange::Disappeared(id) => context.output.line(format!("- {id}")),
        InstanceChange::Changed(id, difference) => {
            context.output.line(format!("~ {id}"))?;
            print_difference(context, difference)
        }
    }
}

/// What differs in the header.
///
/// Shape: `[(name with @, [before, after])]`.
pub(super) fn header_differences(difference: &Difference) -> Vec<(String, [String; 2])> {
    let text = |pair: &Option<(Arc<str>, Arc<str>)>| {
        pair.as_ref().map(|(before, after)| [one_line(before), one_line(after)])
    };
    let id = |pair: &Option<(Id, Id)>| {
        pair.as_ref().map(|(before, after)| [before.to_string(), after.to_string()])
    };
    let header = [
        ("id", id(&difference.id)),
        ("type", text(&difference.type_name)),
        ("status", text(&difference.status)),
        ("from", id(&difference.from)),
        ("to", id(&difference.to)),
        ("isProxy", difference.is_proxy.map(|(before, after)| [before.to_string(), after.to_string()])),
    ];
    let header = header.into_iter().filter_map(|(name, sides)| Some((format!("@{name}"), sides?)));
    header.chain(provenance_sides(difference.provenance.as_ref())).collect()
}

fn print_difference(context: &mut Context, difference: &Difference) -> Outcome {
    print_sides(context, "    ", header_differences(difference))?;
    for property in &difference.properties {
        print_property(context, "    ", property)?;
    }
    for classification in &difference.classifications {
        let sign = match (classification.was_there, classification.is_there) {
            (false, _) => "+",
            (_, false) => "-",
            _ => "~",
        };
        context.output.line(format!("  {sign} classification {}", one_line(&classification.name)))?;
        print_sides(context, "      ", provenance_sides(classification.provenance.as_ref()))?;
        for property in &classification.properties {
            print_property(context, "      ", property)?;
        }
    }
    Ok(())
}

fn provenance_sides(difference: Option<&(Arc<Provenance>, Arc<Provenance>)>) -> Vec<(String, [String; 2])> {
    let Some((before, after)) = difference else { return Vec::new() };
    let sides = [before, after].map(|side| provenance_texts(side).into_iter().collect::<BTreeMap<_, _>>());
    let names: BTreeSet<&str> = sides.iter().flat_map(|side| side.keys().copied()).collect();
    let side = |at: usize, name: &str| sides[at].get(name).map_or("(none)", |text| text).to_owned();
    let named = names.into_iter().map(|name| (format!("@{name}"), [side(0, name), side(1, name)]));
    named.filter(|(_, [before, after])| before != after).collect()
}

fn print_sides(context: &mut Context, indent: &str, sides: Vec<(String, [String; 2])>) -> Outcome {
    sides.into_iter().try_for_each(|(name, [before, after])| {
        context.output.line(format!("{indent}{name}: {before} -> {after}"))
    })
}

fn print_property(context: &mut Context, indent: &str, property: &PropertyDifference) -> Outcome {
    let side = |value: &Option<Value>| value.as_ref().map_or_else(|| "(none)".to_owned(), value_to_text);
    let name = one_line(&property.name);
    context.output.line(format!("{indent}{name}: {} -> {}", side(&property.before), side(&property.after)))
}
