//! `annals take-back`: takes records back.

use clap::Args;
use serde_json::json;

use super::apply::send;
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
Instances that the record created are deleted, instances that it deleted are restored. The history keeps all of it. If
later records built on it, the command is refused and names the first instance: --mine undoes their changes, too, and --theirs
leaves these instances as they are. Purged instances do not return.")]
pub struct TakeBack {
    /// Position of the record
    position: u64,
    /// Position of the last record, if there are several
    #[arg(long, value_name = "POSITION")]
    to: Option<u64>,
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
        context.enter(Access::Write)?;
        // The only operation needs no number.
        let sent =
            send(context, &[operation], &self.signature, false).map_err(|stop| stop.without("operation"));
        let mut receipt = sent?;
        context.leave()?;
        if context.output.is_json() {
            if let Some(members) = receipt.as_object_mut() {
                members.retain(|name, _| !["changes", "ids"].contains(&name.as_str()));
            }
            return context.output.json(&receipt);
        }
        let receipt = Shown(&receipt);
        let (position, instant) = (receipt.number("position"), receipt.text("instant"));
        context.output.line(format!("taken back at position {position}, {instant}"))?;
        print_stays(context, receipt)
    }
}
