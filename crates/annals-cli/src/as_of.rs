//! The time to read as of, as arguments.

use annals::{AsOf, Error, Instant, Position, Result};
use clap::Args;

/// The time to read as of; by default now.
#[derive(Args, Clone, Debug, Default)]
pub struct AsOfArguments {
    /// As the repository was after this position
    #[arg(long, value_name = "N", help_heading = "Time")]
    pub at_position: Option<u64>,
    /// As the repository was at this instant (RFC 3339, a date, month or year, now, today or yesterday)
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Time")]
    pub at: Option<Instant>,
    /// As it was true at this instant (the same forms)
    #[arg(long, value_name = "INSTANT", value_parser = instant, help_heading = "Time")]
    pub valid_at: Option<Instant>,
}

impl AsOfArguments {
    /// The time; now if none is given.
    pub fn as_of(&self) -> AsOf {
        AsOf { position: self.at_position.map(Position), instant: self.at, valid: self.valid_at }
    }

    /// True if a time is given.
    pub fn is_given(&self) -> bool {
        self.as_of() != AsOf::default()
    }
}

/// Reads an instant, or one of the words `now`, `today` and `yesterday`, which mean the start of the day in UTC.
pub fn instant(text: &str) -> Result<Instant> {
    const DAY_MICROS: i64 = 86_400_000_000;
    let now = Instant::now();
    let today = now.micros() - now.micros().rem_euclid(DAY_MICROS);
    match text {
        "now" => Ok(now),
        "today" => Instant::from_micros(today),
        "yesterday" => Instant::from_micros(today - DAY_MICROS),
        other => other.parse().map_err(|error: Error| {
            Error::new(error.kind(), format!("{}, or one of now, today and yesterday", error.text()))
        }),
    }
}
