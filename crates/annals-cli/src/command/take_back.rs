//! `annals take-back`: takes records back.

use clap::Args;
use serde_json::json;

use super::apply::{dry_run, send, unchanged};
use super::candidate::{Side, keep_name, print_stays};
use crate::context::{Access, Context, SignatureArguments};
use crate::shown::Shown;
use crate::stop::Outcome;

/// Take a record back: set everything that it changed to its state before it, in one new record
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals log --limit 5                                  which record was it?
  annals take-back 88 -m 'the file was of last week'
  annals take-back 88 --to 91                           several records, as if they were one
  annals take-back 88 --mine --dry-run                  what would be undone, too?
Instances that the record created are deleted, instances that it deleted are restored. The history keeps all of it. What only
later records changed stays: each property, each classification and each place counts by itself. If they changed the same, or
built on new instances, the command is refused and names the first: --mine undoes these changes, too, and lists them, and
--theirs leaves them. Purged instances do not return.")]
pub struct TakeBack {
    /// Position of the record
    position: u64,
    /// Position of the last record, if there are several
    #[arg(long, value_name = "POSITION")]
    to: Option<u64>,
    /// Check everything, list what would stay or be undone, too, and write nothing
    #[arg(long = "dry-run")]
    is_dry_run: bool,
    #[command(flatten)]
    side: Side,
    #[command(flatten)]
    signature: SignatureArguments,
}

impl TakeBack {
    /// Commits it and prints the receipt.
    pub fn run(&self, context: &mut Context) -> Outcome {
        let mut operation = json!({ "action": "take-back", "position": self.position });
        if let Some(to) = self.to {
            operation["toPosition"] = to.into();
        }
        if let Some(keep) = self.side.keep() {
            operation["keep"] = keep_name(keep).into();
        }
        if self.is_dry_run {
            return dry_run(context, &[operation], &self.signature).map_err(|stop| stop.without("operation"));
        }
        context.enter(Access::Write)?;
        // The only operation needs no number.
        let sent =
            send(context, &[operation], &self.signature, false).map_err(|stop| stop.without("operation"));
        let mut receipt = sent?;
        context.leave()?;
        if context.output.is_json() {
            if let Some(members) = receipt.as_object_mut() {
                members.retain(|name, _| name != "ids");
            }
            return context.output.json(&receipt);
        }
        let receipt = Shown(&receipt);
        print_stays(context, receipt)?;
        let position = receipt.number("position");
        context.output.line(match receipt.number("changes") {
            0 if receipt.number("staysCount") == 0 => format!(
                "nothing to take back: everything is as it was before position {}; the repository stays at position {position}",
                self.position
            ),
            0 => unchanged(receipt),
            _ => format!("taken back at position {position}, {}", receipt.text("instant")),
        })
    }
}
