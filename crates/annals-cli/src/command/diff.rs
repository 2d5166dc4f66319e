//! `annals diff`: the differences between two versions, between two positions, or of a tree between two times.

use std::collections::{BTreeMap, BTreeSet};

use annals::{AsOf, Error, ErrorKind, Id, Position};
use annals_exchange::text::one_line;
use annals_json::PROVENANCE_FIELDS;
use clap::Args;
use serde_json::Value as Json;

use super::listing::json_of_line;
use super::selection::InstanceArgument;
use super::tree_path::{RootArgument, path};
use super::tree_times::{FromArguments, ToArguments};
use crate::context::{AsOfArguments, Context};
use crate::place::AnswerLine;
use crate::request::Request;
use crate::shown::{Shown, value_sides};
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
    let (Some(before), Some(after)) = (arguments.before, arguments.after) else {
        if arguments.as_of.is_given() {
            let text =
                "expected --at, --at-position and --valid-at with versions only; a tree has --from and --to";
            return Err(Error::new(ErrorKind::InvalidArgument, text).into());
        }
        return changes(context, arguments);
    };
    let what = arguments.what.as_deref().expect("it is there where versions are");
    let instance = InstanceArgument { id: Id::new(what)?, is_relationship: arguments.is_relationship };
    context.warn_of_emptiness(&arguments.as_of)?;
    let candidate = context.candidate.clone();
    let request = |collection: &'static str| {
        Request::get_of(collection, &instance.id, "/diff")
            .with("from", before)
            .with("to", after)
            .known_at(&arguments.as_of)
            .with_all("candidate", &candidate)
    };
    let (collection, mut answer) = instance.ask(context, request)?;
    let line = answer.whole()?;
    if context.output.is_json() {
        return context.output.json_line(&line);
    }
    let kind = if collection == "entities" { "entity" } else { "relationship" };
    let json = json_of_line(&line)?;
    let mut lines = Vec::new();
    add_difference(&mut lines, Shown(&json));
    if lines.is_empty() {
        let text = format!("{kind} {}: versions {before} and {after} do not differ", instance.id);
        return context.output.line(text);
    }
    context.output.line(format!("{kind} {}: version {before} to {after}", instance.id))?;
    lines.into_iter().try_for_each(|line| context.output.line(line))
}

/// Prints the changes of all instances between two positions, or those of the item at a path and of its subtree.
fn changes(context: &mut Context, arguments: &Arguments) -> Outcome {
    let request = match &arguments.positions {
        Some(positions) => Request::get("/v1/diff").with("from", positions[0]).with("to", positions[1]),
        None => tree(context, arguments)?,
    };
    let mut answer = context.ask(request.lines())?;
    while let Some(AnswerLine::Item(line)) = answer.line()? {
        if context.output.is_json() {
            context.output.json_line(&line)?;
            continue;
        }
        let json = json_of_line(&line)?;
        change_lines(Shown(&json)).into_iter().try_for_each(|line| context.output.line(line))?;
    }
    context.output.end_list();
    Ok(())
}

/// The request about a tree.
fn tree(context: &mut Context, arguments: &Arguments) -> Outcome<Request> {
    let what = arguments.what.as_deref().expect("it is there where no positions are");
    if !what.starts_with('/') {
        let text =
            format!("{what:?}: expected two versions behind an id, or a path of a tree, which begins with /");
        return Err(Error::new(ErrorKind::InvalidArgument, text).into());
    }
    let mut from = arguments.from.as_of();
    // By default a candidate is compared with the committed state.
    if from == AsOf::default() && context.candidate.is_some() {
        let present = context.ask(Request::get("/v1/candidates"))?.position();
        from.position = present.map(Position);
    } else {
        from = arguments.from.past()?;
    }
    let to = arguments.to.as_of();
    let request = Request::get("/v1/tree-diff").with("path", path(what)?).with("root", &arguments.root.root);
    let request = request.with_all("from", from.instant).with_all("fromValidAt", from.valid);
    let request = request.with_all("fromPosition", from.position);
    let request = request.with_all("to", to.instant).with_all("toValidAt", to.valid);
    Ok(context.of_candidate(request.with_all("toPosition", to.position)))
}

/// The lines about a change of an instance, or of an item of a tree.
fn change_lines(change: Shown) -> Vec<String> {
    let name = match change.optional("path") {
        Some(path) => one_line(path),
        None => format!("{} {}", change.text("kind"), change.text("id")),
    };
    let (sign, is_moved) = match change.text("change") {
        "created" | "appeared" => ("+", false),
        "deleted" | "disappeared" => ("-", false),
        "moved" => (">", true),
        _ => ("~", false),
    };
    let mut lines = vec![format!("{sign} {name}")];
    if is_moved {
        let step = |name| change.of("previous").optional(name).map_or_else(|| "(none)".to_owned(), one_line);
        let sides = [
            ("@path", [one_line(change.text("from")), name]),
            ("@previous", [step("before"), step("after")]),
        ];
        let differing = sides.into_iter().filter(|(_, [before, after])| before != after);
        add_sides(&mut lines, "    ", differing.map(|(name, sides)| (name.to_owned(), sides)).collect());
    }
    add_difference(&mut lines, change.of("difference"));
    lines
}

/// The differences in the header.
///
/// Shape: `[(name with @, [before, after])]`.
pub(super) fn header_differences(difference: Shown) -> Vec<(String, [String; 2])> {
    let header = ["id", "type", "status", "from", "to", "isProxy"].into_iter().filter_map(|name| {
        let sides = difference.of(name);
        let side = |side: &str| match sides.of(side).0 {
            Json::String(text) => Some(one_line(text)),
            Json::Bool(flag) => Some(flag.to_string()),
            _ => None,
        };
        Some((format!("@{name}"), [side("before")?, side("after")?]))
    });
    header.chain(provenance_sides(difference)).collect()
}

fn add_difference(lines: &mut Vec<String>, difference: Shown) {
    add_sides(lines, "    ", header_differences(difference));
    add_properties(lines, "    ", difference);
    for classification in difference.all("classifications") {
        let sign = match (classification.is("wasThere"), classification.is("isThere")) {
            (false, _) => "+",
            (_, false) => "-",
            _ => "~",
        };
        lines.push(format!("  {sign} classification {}", one_line(classification.text("name"))));
        add_sides(lines, "      ", provenance_sides(classification));
        add_properties(lines, "      ", classification);
    }
}

fn provenance_sides(difference: Shown) -> Vec<(String, [String; 2])> {
    let sides = ["before", "after"].map(|side| {
        let told = PROVENANCE_FIELDS.iter().filter_map(|name| {
            let value = difference.of(name).of(side).0;
            (!value.is_null()).then(|| ((*name).to_owned(), value.clone()))
        });
        let told = Json::Object(told.collect());
        Shown(&told).provenance().into_iter().collect::<BTreeMap<_, _>>()
    });
    let names: BTreeSet<&str> = sides.iter().flat_map(|side| side.keys().copied()).collect();
    let side = |at: usize, name: &str| sides[at].get(name).map_or("(none)", |text| text).to_owned();
    let named = names.into_iter().map(|name| (format!("@{name}"), [side(0, name), side(1, name)]));
    named.filter(|(_, [before, after])| before != after).collect()
}

fn add_sides(lines: &mut Vec<String>, indent: &str, sides: Vec<(String, [String; 2])>) {
    lines.extend(
        sides.into_iter().map(|(name, [before, after])| format!("{indent}{name}: {before} -> {after}")),
    );
}

fn add_properties(lines: &mut Vec<String>, indent: &str, difference: Shown) {
    for (name, sides) in difference.of("properties").members() {
        let [before, after] =
            value_sides(Shown(sides)).map(|side| side.unwrap_or_else(|| "(none)".to_owned()));
        lines.push(format!("{indent}{}: {before} -> {after}", one_line(name)));
    }
}
