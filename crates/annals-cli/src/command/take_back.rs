//! `annals take-back`: takes records back.

use annals::Position;
use annals_json::taken_back_to_json;
use clap::Args;

use super::candidate::{Side, print_stays};
use crate::context::{Context, SignatureArguments};
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
        let positions = Position(self.position)..=Position(self.to.unwrap_or(self.position));
        let repository = context.open_to_write()?;
        let SignatureArguments { author, message, valid_from, .. } = &self.signature;
        let (stays, receipt) = repository.transact(|transaction| {
            transaction.author(author).message(message).valid_from(*valid_from);
            transaction.take_back_all(positions.clone(), self.side.keep())
        })?;
        repository.close()?;
        if context.output.is_json() {
            return context.output.json(&taken_back_to_json(&stays, &receipt));
        }
        context.output.line(format!("taken back at position {}, {}", receipt.position, receipt.instant))?;
        print_stays(context, &stays)
    }
}
