//! The times that a command compares a tree at, or sets it back to.

use annals::{AsOf, Error, ErrorKind, Instant, Position, Result};
use annals_json::Object;
use clap::Args;

use crate::context::instant;

/// The earlier time.
#[derive(Args, Clone, Debug, Default)]
pub struct FromArguments {
    /// As the repository was at this instant (RFC 3339, a date, month or year, now, today or yesterday)
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Time")]
    from: Option<Instant>,
    /// As the repository was after this position
    #[arg(long, value_name = "N", help_heading = "Time")]
    from_position: Option<u64>,
    /// As it was true at this instant (the same forms)
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Time")]
    from_valid_at: Option<Instant>,
}

/// The later time, or the time to go back to.
#[derive(Args, Clone, Debug, Default)]
pub struct ToArguments {
    /// As the repository was at this instant (RFC 3339, a date, month or year, now, today or yesterday)
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Time")]
    to: Option<Instant>,
    /// As the repository was after this position
    #[arg(long, value_name = "N", help_heading = "Time")]
    to_position: Option<u64>,
    /// As it was true at this instant (the same forms)
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Time")]
    to_valid_at: Option<Instant>,
}

impl FromArguments {
    /// The time; now if none is given.
    pub fn as_of(&self) -> AsOf {
        AsOf { position: self.from_position.map(Position), instant: self.from, valid: self.from_valid_at }
    }

    /// The time, which must be given.
    pub fn past(&self) -> Result<AsOf> {
        past(self.as_of(), "--from")
    }
}

impl ToArguments {
    /// The time; now if none is given.
    pub fn as_of(&self) -> AsOf {
        AsOf { position: self.to_position.map(Position), instant: self.to, valid: self.to_valid_at }
    }

    /// The time, which must be given.
    pub fn past(&self) -> Result<AsOf> {
        past(self.as_of(), "--to")
    }
}

/// Refuses the present.
fn past(as_of: AsOf, name: &str) -> Result<AsOf> {
    if as_of == AsOf::default() {
        let text =
            format!("expected a time as one of {name}, {name}-position and {name}-valid-at, found none");
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    Ok(as_of)
}

/// A time as members of an operation.
pub fn as_of_to_json(as_of: &AsOf) -> Object {
    let position = as_of.position.map(|position| ("atPosition".to_owned(), position.0.into()));
    let instants = [("at", as_of.instant), ("validAt", as_of.valid)].into_iter();
    let instants = instants.filter_map(|(name, told)| Some((name.to_owned(), told?.to_string().into())));
    position.into_iter().chain(instants).collect()
}
