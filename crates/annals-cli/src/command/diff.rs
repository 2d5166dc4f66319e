//! `annals diff`: the differences between two versions, between two positions, or of a tree between two times.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use annals::{
    AsOf, Difference, Error, ErrorKind, Id, InstanceChange, Position, PropertyDifference, Provenance,
    Snapshot, TreeChange, TreeChangeKind, TreeStep, Value,
};
use annals_exchange::text::{one_line, value_to_text};
use annals_json::{difference_to_json, instance_change_to_json, tree_change_to_json};
use clap::Args;

use super::selection::InstanceArgument;
use super::tree_path::{RootArgument, path};
use super::tree_times::{FromArguments, ToArguments};
use crate::context::{AsOfArguments, Context};
use crate::output::provenance_texts;
use crate::stop::Outcome;

/// Show the differences between two versions, between two positions, or of a tree between two times
#[derive(Args, Debug)]
#[command(
    override_usage = "annals diff <ID> <BEFORE> <AFTER>\n       annals diff --positions <FROM> <TO>\n       annals diff <PATH> --from <INSTANT> [--to <INSTANT>]",
    after_help = "\
Examples:
  annals diff package:bash 1 2
  annals diff --positions 100 200                      what became of every instance
  annals diff /interfaces --from yesterday             what became of a tree since then
  annals diff / --from-position 41 --to-position 42
+ was created, - deleted, ~ modified, > moved: from another @path, or in an ordered list from behind
another item, @previous.
Names with @ are header fields, such as @status, @type and @home; other names are properties.
With --json, of positions and trees each line is one instance, or one item."
)]
pub struct Arguments {
    /// Id of an entity, or of a relationship if no entity has it; without versions, the path of an item of a tree
    #[arg(required_unless_present = "positions", value_name = "ID|PATH")]
    what: Option<String>,
    /// The earlier version
    #[arg(requires = "after")]
    before: Option<u32>,
    /// The later version
    after: Option<u32>,
    /// Read the id as that of a relationship
    #[arg(long = "relationship")]
    is_relationship: bool,
    /// Compare the repository at these two positions
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], conflicts_with = "what")]
    positions: Option<Vec<u64>>,
    #[command(flatten)]
    from: FromArguments,
    #[command(flatten)]
    to: ToArguments,
    #[command(flatten)]
    root: RootArgument,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the differences.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let is_tree = arguments.positions.is_none() && arguments.before.is_none();
    if !is_tree && [arguments.from.as_of(), arguments.to.as_of()] != [AsOf::default(); 2] {
        let text = "expected --from and --to with the path of a tree only; versions and positions say what is compared";
        return Err(Error::new(ErrorKind::InvalidArgument, text).into());
    }
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
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
    let what = arguments.what.as_deref().expect("it is there where no positions are");
    let (Some(before), Some(after)) = (arguments.before, arguments.after) else {
        let present = repository.snapshot().position();
        return tree(context, &snapshot, present, what, arguments);
    };
    let instance = InstanceArgument { id: Id::new(what)?, is_relationship: arguments.is_relationship };
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

/// Prints the changes of the item at a path and of its subtree.
fn tree(
    context: &mut Context,
    snapshot: &Snapshot,
    present: Position,
    what: &str,
    arguments: &Arguments,
) -> Outcome {
    if !what.starts_with('/') {
        let text =
            format!("{what:?}: expected two versions behind an id, or a path of a tree, which begins with /");
        return Err(Error::new(ErrorKind::InvalidArgument, text).into());
    }
    // By default a candidate is compared with the committed state.
    let from = match arguments.from.as_of() == AsOf::default() && context.candidate.is_some() {
        true => AsOf { position: Some(present), ..AsOf::default() },
        false => arguments.from.past()?,
    };
    let to = arguments.to.as_of();
    let found = arguments.root.tree(snapshot).difference(&path(what)?, from, to)?;
    found.iter().try_for_each(|change| print_tree_change(context, change))?;
    context.output.end_list();
    Ok(())
}

fn print_tree_change(context: &mut Context, change: &TreeChange) -> Outcome {
    if context.output.is_json() {
        return context.output.json(&tree_change_to_json(change));
    }
    let path = one_line(&change.path.to_string()).to_string();
    match &change.kind {
        TreeChangeKind::Created => context.output.line(format!("+ {path}")),
        TreeChangeKind::Deleted => context.output.line(format!("- {path}")),
        TreeChangeKind::Moved { from, after } => {
            context.output.line(format!("> {path}"))?;
            let step = |step: &Option<TreeStep>| match step {
                Some(step) => one_line(step.to_string().trim_start_matches('/')).to_string(),
                None => "(none)".to_owned(),
            };
            let sides = [
                ("@path", [one_line(&from.to_string()).to_string(), path]),
                ("@previous", [step(&after[0]), step(&after[1])]),
            ];
            let differing = sides.into_iter().filter(|(_, [before, after])| before != after);
            print_sides(context, "    ", differing.map(|(name, sides)| (name.to_owned(), sides)).collect())
        }
        TreeChangeKind::Modified(difference) => {
            context.output.line(format!("~ {path}"))?;
            print_difference(context, difference)
        }
    }
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

/// The differences in the header.
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
