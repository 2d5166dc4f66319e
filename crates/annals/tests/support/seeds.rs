//! The seeds of a random test.

use super::{fresh_seed, number_from_environment};

/// The seeds of a test: `count`, or as many as `NAMES` says, after a fresh one; or only the one that `NAME` says.
pub fn seeds(name: &str, count: u64) -> std::ops::Range<u64> {
    let only = number_from_environment(name, 0);
    let (first, count) = match only {
        0 => (fresh_seed(), number_from_environment(&format!("{name}S"), count)),
        only => (only, 1),
    };
    println!("seeds {first} to {}; {name}=n repeats one", first + count - 1);
    first..first + count
}
