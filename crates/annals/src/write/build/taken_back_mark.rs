//! The mark in the message of a record that takes others back: it names them, so that readers of the log know.

use std::ops::RangeInclusive;

use crate::Position;

const START: &str = "[takes back ";

/// The records that a record takes back, as its message names them: `undone [takes back 3-567, 570-570]`. None for any other
/// message.
pub fn takes_back(message: &str) -> Vec<RangeInclusive<Position>> {
    let read = |range: &str| -> Option<RangeInclusive<Position>> {
        let (first, last) = range.split_once('-')?;
        Some(Position(first.parse().ok()?)..=Position(last.parse().ok()?))
    };
    let listed = message.strip_suffix(']').and_then(|rest| rest.rsplit_once(START));
    listed.and_then(|(_, ranges)| ranges.split(", ").map(read).collect()).unwrap_or_default()
}

/// The message with the mark behind it.
pub(in crate::write) fn marked(message: &str, ranges: &[RangeInclusive<Position>]) -> String {
    let gap = if message.is_empty() { "" } else { " " };
    let ranges: Vec<String> =
        ranges.iter().map(|range| format!("{}-{}", range.start(), range.end())).collect();
    format!("{message}{gap}{START}{}]", ranges.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back_as_written() {
        let ranges = [Position(3)..=Position(567), Position(570)..=Position(570)];
        for message in ["", "undone", "[import a run 0 lines 1-2 0]"] {
            assert_eq!(takes_back(&marked(message, &ranges)), ranges);
            assert_eq!(takes_back(message), []);
        }
        for other in ["[takes back ]", "[takes back 3]", "[takes back 3-x]", "[takes back 3-4] later"] {
            assert_eq!(takes_back(other), [], "{other}");
        }
    }
}
