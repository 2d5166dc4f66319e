//! `annals candidate`: working copies that stay when the process ends.

use annals::{
    BuiltOn, Candidate, CandidateConflict, Candidates, Change, InstanceId, Keep, Receipt, Snapshot,
};
use annals_exchange::text::{count, one_line};
use annals_json::{
    candidate_commit_from_json, candidate_to_json, change_to_json, conflict_to_json, stays_to_json,
};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::context::{Context, SignatureArguments};
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
            let all = context.open_to_read()?.candidates().list()?;
            all.iter().try_for_each(|candidate| print(context, candidate))?;
            context.output.end_list();
            Ok(())
        }
        Action::Show { name } => {
            let candidate = context.open_to_read()?.candidates().get(name)?;
            print(context, &candidate)
        }
        Action::Edits { name } => {
            let repository = context.open_to_read()?;
            let edits = repository.candidates().edits(name)?;
            // Edits that cannot be applied have no view; their places are those of the repository.
            let view = repository.candidates().view(name).unwrap_or_else(|_| repository.snapshot());
            edits
                .iter()
                .enumerate()
                .try_for_each(|(number, edit)| print_edit(context, &view, number, edit))?;
            context.output.end_list();
            Ok(())
        }
        Action::Conflicts { name } => {
            let conflicts = context.open_to_read()?.candidates().conflicts(name)?;
            print_conflicts(context, &conflicts)
        }
        Action::Check { name } => {
            context.open_to_read()?.candidates().check(name)?;
            match context.output.is_json() {
                true => context.output.json(&json!({ "canBeCommitted": true })),
                false => context.output.line(format!("{}: it can be committed", one_line(name))),
            }
        }
        Action::Rebase { named: Named { name, signature }, side } => {
            let repository = context.open_to_write()?;
            let author = context.author(signature.author.as_deref())?.unwrap_or_default();
            let dropped = repository.candidates().rebase(name, side.keep(), &author)?;
            let base = repository.candidates().get(name)?.base;
            repository.close()?;
            if !context.output.is_json() {
                let dropped = count(dropped.len() as u64);
                context.output.line(format!("rebased on position {base}, {dropped} edits dropped"))?;
            }
            dropped.iter().try_for_each(|conflict| print_conflict(context, conflict))
        }
        Action::Open(named) => {
            write(context, named, |candidates, name, author| candidates.open(name, author))
        }
        Action::Commit { named, confirm_within } => {
            let SignatureArguments { author, message, .. } = &named.signature;
            let author = context.author(author.as_deref())?.unwrap_or_default();
            let body =
                confirm_within.as_ref().map_or_else(|| json!({}), |time| json!({ "confirmWithin": time }));
            let how = candidate_commit_from_json(&body, author, message.clone())?;
            write(context, named, |candidates, name, _| candidates.commit(name, &how))
        }
        Action::Confirm(named) => {
            write(context, named, |candidates, name, author| candidates.confirm(name, author))
        }
        Action::TakeBack { named, side } => {
            let mut stays = Vec::new();
            write(context, named, |candidates, name, author| {
                let (left, receipt) = candidates.take_back(name, side.keep(), author)?;
                stays = left;
                Ok(receipt)
            })?;
            print_stays(context, &stays)
        }
        Action::Discard(named) => {
            write(context, named, |candidates, name, author| candidates.discard(name, author))
        }
    }
}

fn write(
    context: &mut Context,
    Named { name, signature }: &Named,
    work: impl FnOnce(&Candidates, &str, &str) -> annals::Result<Receipt>,
) -> Outcome {
    let repository = context.open_to_write()?;
    let author = context.author(signature.author.as_deref())?.unwrap_or_default();
    let receipt = work(&repository.candidates(), name, &author)?;
    repository.close()?;
    if context.output.is_json() {
        let (position, instant) = (receipt.position.0, receipt.instant.to_string());
        return context.output.json(&json!({ "position": position, "instant": instant }));
    }
    context.output.line(format!("done at position {}, {}", receipt.position, receipt.instant))
}

fn print(context: &mut Context, candidate: &Candidate) -> Outcome {
    if context.output.is_json() {
        return context.output.json(&candidate_to_json(candidate));
    }
    let state = match &candidate.unconfirmed {
        None => format!("open, made of position {}", candidate.base),
        Some(waiting) => {
            let failure =
                waiting.failure.as_ref().map(|failure| format!("; taking it back failed: {failure}"));
            format!(
                "committed at position {}, waits for its confirmation until {}{}",
                waiting.position,
                waiting.confirm_before,
                failure.unwrap_or_default()
            )
        }
    };
    let changes = count(candidate.changes_count);
    context.output.line(format!("{}: {changes} edits, {state}", one_line(&candidate.name)))
}

/// Prints the instances that stay as they are, because later commits built on them.
pub fn print_stays(context: &mut Context, stays: &[BuiltOn]) -> Outcome {
    stays.iter().try_for_each(|stays| match context.output.is_json() {
        true => context.output.json(&stays_to_json(stays)),
        false => context.output.line(format!("stays: {}", one_line(stays.reason.text()))),
    })
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

fn print_conflicts(context: &mut Context, conflicts: &[CandidateConflict]) -> Outcome {
    conflicts.iter().try_for_each(|conflict| print_conflict(context, conflict))?;
    context.output.end_list();
    Ok(())
}

fn print_conflict(context: &mut Context, conflict: &CandidateConflict) -> Outcome {
    if context.output.is_json() {
        return context.output.json(&conflict_to_json(conflict));
    }
    let (edit, verb) = (conflict.edit, conflict.verb);
    let path = conflict.path.as_ref().map(|path| format!(" {}", one_line(&path.to_string())));
    let path = path.unwrap_or_default();
    context.output.line(format!("edit {edit}, {verb}{path}: {}", one_line(conflict.reason.text())))
}
