//! The rows of a part that have neither a figure nor a state yet. If the part fails, each of them gets a state.

use crate::harness::{Cell, Figure, OUT_OF_MEMORY};
use crate::outcome::Outcome;

/// Shape: volumes and rows, in the order in which they are measured.
pub struct Pending(Vec<(String, &'static str)>);

impl Pending {
    /// None has a figure yet.
    pub fn new(rows: impl IntoIterator<Item = (String, &'static str)>) -> Pending {
        Pending(rows.into_iter().collect())
    }

    /// Prints the figure of a row.
    pub fn tell(&mut self, cell: &mut Cell, volume: &str, row: &str, figure: Figure) -> Outcome<()> {
        self.0.retain(|(of, name)| (of.as_str(), *name) != (volume, row));
        cell.tell(volume, row, figure)
    }

    /// Prints why the target cannot do what some rows measure, at any volume.
    pub fn skip(&mut self, cell: &mut Cell, rows: &[&str], reason: &str) -> Outcome<()> {
        self.0.retain(|(_, name)| !rows.contains(name));
        cell.skip(rows, reason)
    }

    /// Prints the same state for all rows that are left.
    pub fn tell_all(self, cell: &mut Cell, state: &str) -> Outcome<()> {
        self.0.into_iter().try_for_each(|(volume, row)| cell.tell(&volume, row, Figure::state(state)))
    }

    /// Prints the states of the rows that are left after this error.
    pub fn fail(self, cell: &mut Cell, error: &str) -> Outcome<()> {
        let states = self.states(error);
        states.into_iter().try_for_each(|(volume, row, state)| cell.tell(&volume, row, Figure::state(state)))
    }

    /// Passes on how the part ended, after the states of the rows that are left if it failed.
    pub fn end(self, cell: &mut Cell, measured: Outcome<()>) -> Outcome<()> {
        if let Err(error) = &measured {
            self.fail(cell, &error.to_string())?;
        }
        measured
    }

    /// The first row that is left is the one that failed; the others would have followed it.
    fn states(self, error: &str) -> Vec<(String, &'static str, String)> {
        let Some((failed_volume, failed)) = self.0.first().cloned() else { return Vec::new() };
        let rows = self.0.into_iter().enumerate();
        let state = |place| match place {
            0 if OUT_OF_MEMORY.iter().any(|sign| error.contains(sign)) => "OOM".to_owned(),
            0 if error.starts_with("DNF(") => error.to_owned(),
            0 => format!("ERR({error})"),
            _ => format!("SKIP({failed} failed at {failed_volume})"),
        };
        rows.map(|(place, (volume, row))| (volume, row, state(place))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_that_failed_gets_the_error_and_the_rows_after_it_say_so() {
        let pending = || Pending::new(["chain", "commit-25"].map(|row| ("10".to_owned(), row)));
        let states = |error: &str| -> Vec<String> {
            pending().states(error).into_iter().map(|row| format!("{} {} {}", row.0, row.1, row.2)).collect()
        };
        assert_eq!(states("no"), ["10 chain ERR(no)", "10 commit-25 SKIP(chain failed at 10)"]);
        assert_eq!(states("DNF(61 s)")[0], "10 chain DNF(61 s)");
        assert_eq!(states("OutOfMemoryError: Java heap space")[0], "10 chain OOM");
        assert!(Pending::new([]).states("no").is_empty());
    }
}
