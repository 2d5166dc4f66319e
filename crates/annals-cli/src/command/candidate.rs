//! `annals candidate`: working copies that stay when the process ends.

use annals::{Change, InstanceId, Keep, Snapshot};
use annals_exchange::text::{count, counted, one_line};
use annals_json::change_to_json;
use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};

use super::listing::json_of_line;
use crate::context::{Access, Context, SignatureArguments};
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::Outcome;

/// Open, show, commit and discard candidates: working copies that stay until you end them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals candidate open night
  annals put /interfaces/eth0/mtu --value 9000 --candidate night    edits it; nobody else sees that
  annals cat /interfaces --candidate night                          the repository as it would be
  annals diff / --candidate night                                   what the commit would change
  annals candidate commit night --confirm-within 10m
  annals candidate confirm night
Every command that reads, or writes by operations or paths, takes --candidate. Without a confirmation in time, the server,
or the next command that writes, undoes the commit.")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// List the candidates
    List,
    /// Open a candidate of the repository as it is now
    Open(Named),
    /// Show a candidate
    Show {
        /// Name of the candidate
        name: String,
    },
    /// List the edits of a candidate; with --json as operations
    Edits {
        /// Name of the candidate
        name: String,
    },
    /// List the edits that prevent a commit
    Conflicts {
        /// Name of the candidate
        name: String,
    },
    /// Find out whether a candidate can be committed
    Check {
        /// Name of the candidate
        name: String,
    },
    /// Base a candidate on the repository as it is now
    Rebase {
        #[command(flatten)]
        named: Named,
        #[command(flatten)]
        side: Side,
    },
    /// Commit the edits of a candidate as one transaction
    Commit {
        #[command(flatten)]
        named: Named,
        /// Undo the commit unless you confirm it within this time, such as 90s, 10m, 2h or PT10M
        #[arg(long, value_name = "TIME", value_parser = time)]
        confirm_within: Option<String>,
    },
    /// Confirm a commit that waits for confirmation
    Confirm(Named),
    /// Undo a commit that waits for confirmation; the candidate is open again
    TakeBack {
        #[command(flatten)]
        named: Named,
        #[command(flatten)]
        side: Side,
    },
    /// End a candidate without committing its edits
    Discard(Named),
}

/// Which side stays where others changed the same
#[derive(Args, Debug)]
pub struct Side {
    /// Where others changed the same: mine stays and theirs is undone
    #[arg(long, conflicts_with_all = ["theirs", "keep"])]
    mine: bool,
    /// Where others changed the same: theirs stays as it is
    #[arg(long, conflicts_with = "keep")]
    theirs: bool,
    /// The same as one option, for scripts
    #[arg(long, value_name = "SIDE", value_parser = ["mine", "theirs"])]
    keep: Option<String>,
}

impl Side {
    /// The side, if one is named.
    pub fn keep(&self) -> Option<Keep> {
        match (self.mine, self.theirs, self.keep.as_deref()) {
            (true, ..) | (.., Some("mine")) => Some(Keep::Mine),
            (_, true, _) | (.., Some(_)) => Some(Keep::Theirs),
            _ => None,
        }
    }
}

#[derive(Args, Debug)]
struct Named {
    /// Name of the candidate
    name: String,
    #[command(flatten)]
    signature: SignatureArguments,
}

/// A time such as `10m` in the form of ISO 8601.
fn time(text: &str) -> Result<String, String> {
    let (digits, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit()).unwrap_or(0));
    let unit = match unit {
        "s" => "S",
        "m" => "M",
        "h" => "H",
        _ => {
            let known = annals_json::time_from_text(text);
            return known
                .map(|_| text.to_owned())
                .map_err(|_| format!("expected 90s, 10m, 2h or PT10M, found {text:?}"));
        }
    };
    Ok(format!("PT{digits}{unit}"))
}

/// Runs the command.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    match &arguments.action {
        Action::List => {
            let all = read(context, Request::get("/v1/candidates"))?;
            Shown(&all).all("items").try_for_each(|candidate| print(context, candidate))?;
            context.output.end_list();
            Ok(())
        }
        Action::Show { name } => {
            let candidate = read(context, at(name, ""))?;
            print(context, Shown(&candidate))
        }
        Action::Edits { name } => edits(context, name),
        Action::Conflicts { name } => {
            let conflicts = read(context, at(name, "/conflicts"))?;
            print_conflicts(context, Shown(&conflicts))?;
            context.output.end_list();
            Ok(())
        }
        Action::Check { name } => {
            read(context, at(name, "/check"))?;
            match context.output.is_json() {
                true => context.output.json(&json!({ "canBeCommitted": true })),
                false => context.output.line(format!("{}: it can be committed", one_line(name))),
            }
        }
        Action::Rebase { named, side } => {
            let body = side.keep().map_or_else(|| json!({}), |keep| json!({ "keep": keep_name(keep) }));
            let dropped = send(context, named, at(&named.name, "/rebase").posted(&body))?;
            let candidate = read(context, at(&named.name, ""))?;
            context.leave()?;
            if !context.output.is_json() {
                let (base, dropped) = (Shown(&candidate).number("base"), Shown(&dropped).number("count"));
                let dropped = counted(dropped, "edit");
                context.output.line(format!("rebased on position {base}, {dropped} dropped"))?;
            }
            print_conflicts(context, Shown(&dropped))
        }
        Action::Open(named) => {
            context.enter(Access::Write)?;
            let body = json!({ "name": named.name });
            let mut answer = context.ask(signed(context, named, Request::post("/v1/candidates", &body))?)?;
            let position = answer.position().unwrap_or_default();
            let candidate = json_of_line(&answer.whole()?)?;
            context.leave()?;
            let instant = Shown(&candidate).of("created").text("instant");
            print_receipt(context, Shown(&json!({ "position": position, "instant": instant })))
        }
        Action::Commit { named, confirm_within } => {
            let body =
                confirm_within.as_ref().map_or_else(|| json!({}), |time| json!({ "confirmWithin": time }));
            write(context, named, at(&named.name, "/commit").posted(&body))
        }
        Action::Confirm(named) => write(context, named, at(&named.name, "/confirm").posted(&json!({}))),
        Action::TakeBack { named, side } => {
            let request = at(&named.name, "/take-back").posted(&json!({}));
            let request = request.with_all("keep", side.keep().map(keep_name));
            let receipt = send(context, named, request)?;
            context.leave()?;
            let receipt = Shown(&receipt);
            print_receipt(context, receipt)?;
            match context.output.is_json() {
                true => {
                    let mut all = receipt.all("stays").chain(receipt.all("undone"));
                    all.try_for_each(|built| context.output.json(built.0))
                }
                false => print_stays(context, receipt),
            }
        }
        Action::Discard(named) => write(context, named, at(&named.name, "").deleted()),
    }
}

/// The name of a side in requests.
pub fn keep_name(keep: Keep) -> &'static str {
    if keep == Keep::Mine { "mine" } else { "theirs" }
}

/// A request about a candidate.
fn at(name: &str, rest: &str) -> Request {
    Request::get("/v1/candidates/").of_part(name, rest)
}

fn read(context: &mut Context, request: Request) -> Outcome<Json> {
    Ok(json_of_line(&context.ask(request)?.whole()?)?)
}

/// The request with author and message.
fn signed(context: &Context, named: &Named, request: Request) -> Outcome<Request> {
    let SignatureArguments { author, message, .. } = &named.signature;
    Ok(request.signed(context.author(author.as_deref())?.as_deref(), message))
}

/// Sends a write, and reads the answer.
fn send(context: &mut Context, named: &Named, request: Request) -> Outcome<Json> {
    context.enter(Access::Write)?;
    let request = signed(context, named, request)?;
    read(context, request)
}

/// Sends a write, and prints the receipt.
fn write(context: &mut Context, named: &Named, request: Request) -> Outcome {
    let receipt = send(context, named, request)?;
    context.leave()?;
    print_receipt(context, Shown(&receipt))
}

fn print_receipt(context: &mut Context, receipt: Shown) -> Outcome {
    let (position, instant) = (receipt.number("position"), receipt.text("instant"));
    if context.output.is_json() {
        return context.output.json(&json!({ "position": position, "instant": instant }));
    }
    context.output.line(format!("done at position {position}, {instant}"))
}

fn print(context: &mut Context, candidate: Shown) -> Outcome {
    if context.output.is_json() {
        return context.output.json(candidate.0);
    }
    let waiting = candidate.of("unconfirmed");
    let state = if waiting.0.is_null() {
        format!("open, made of position {}", candidate.number("base"))
    } else {
        let failure =
            waiting.optional("failure").map(|failure| format!("; taking it back failed: {failure}"));
        format!(
            "committed at position {}, waits for its confirmation until {}{}",
            waiting.number("position"),
            waiting.text("confirmBefore"),
            failure.unwrap_or_default()
        )
    };
    let edits = counted(candidate.number("changes"), "edit");
    context.output.line(format!("{}: {edits}, {state}", one_line(candidate.text("name"))))
}

/// Prints the edits of a candidate in the folder: their places are those of its view.
fn edits(context: &mut Context, name: &str) -> Outcome {
    let repository = context.open_to_read()?;
    let edits = repository.candidates().edits(name)?;
    // Edits that cannot be applied have no view; their places are those of the repository.
    let view = repository.candidates().view(name).unwrap_or_else(|_| repository.snapshot());
    edits.iter().enumerate().try_for_each(|(number, edit)| print_edit(context, &view, number, edit))?;
    context.output.end_list();
    Ok(())
}

/// Prints an edit: as an operation for programs, and for people with the path of its item.
fn print_edit(context: &mut Context, view: &Snapshot, number: usize, edit: &Change) -> Outcome {
    let operation = change_to_json(edit, None);
    if context.output.is_json() {
        return context.output.json(&operation);
    }
    let instance = edit.action.instance();
    let entity = match &instance {
        Some(InstanceId::Entity(id)) => Some(id.clone()),
        Some(InstanceId::Relationship(id)) => view.relationship(id)?.map(|found| found.to().clone()),
        None => None,
    };
    let path = entity.map_or(Ok(None), |id| view.tree().path_of(&id))?;
    let place = match (path, instance) {
        (Some(path), _) => format!(" {}", one_line(&path.to_string())),
        (None, Some(instance)) => format!(" {instance}"),
        (None, None) => String::new(),
    };
    let (verb, operation) = (edit.action.verb(), one_line(&operation.to_string()));
    context.output.line(format!("edit {number}, {verb}{place}: {operation}"))
}

/// Prints the first conflicts, and the number of the others.
fn print_conflicts(context: &mut Context, conflicts: Shown) -> Outcome {
    let mut shown = 0;
    for conflict in conflicts.all("items") {
        shown += 1;
        if context.output.is_json() {
            context.output.json(conflict.0)?;
            continue;
        }
        let (edit, verb) = (conflict.number("edit"), conflict.text("action"));
        let path = conflict.optional("path").map(|path| format!(" {}", one_line(path))).unwrap_or_default();
        context.output.line(format!("edit {edit}, {verb}{path}: {}", one_line(conflict.text("detail"))))?;
    }
    match conflicts.number("count").saturating_sub(shown) {
        more if more > 0 && !context.output.is_json() => {
            context.output.line(format!("and {}", counted(more, "more conflict")))
        }
        _ => Ok(()),
    }
}

/// Prints the instances that stay because later commits built on them, and those whose later changes are undone, too.
pub fn print_stays(context: &mut Context, receipt: Shown) -> Outcome {
    for (list, all_count, what) in
        [("stays", "staysCount", "stays"), ("undone", "undoneCount", "undone, too")]
    {
        let mut shown = 0;
        for built in receipt.all(list) {
            shown += 1;
            context.output.line(format!("{what}: {}", one_line(built.text("detail"))))?;
        }
        match receipt.number(all_count).saturating_sub(shown) {
            0 => {}
            more => context.output.line(format!("{what}: {} more", count(more)))?,
        }
    }
    Ok(())
}
