//! The history of an entity that was put a hundred times.

use serde_json::{Value, json};

use super::answer::{ANSWER_MAX, Took};
use super::pending::Pending;
use super::systems::{open, start};
use crate::harness::{Answered, Cell, Figure};
use crate::outcome::Outcome;
use crate::run::agree;

/// Versions of the entity.
const VERSIONS: i64 = 100;
/// Entities that are put and read in one process. The last one counts: the first calls of a process are cold.
const ROUNDS: usize = 10;

/// Puts the versions of one entity after the other and reads them all.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let rows = ["history-put", "history-read"].map(|row| (VERSIONS.to_string(), row));
    let mut pending = Pending::new(rows);
    let measured = measure(cell, &mut pending);
    pending.end(cell, measured)
}

fn measure(cell: &mut Cell, pending: &mut Pending) -> Outcome<()> {
    let mut system = start(cell)?;
    let system = &mut *system;
    open(system, cell, "history")?;
    let put = json!({ "do": "history-put", "versions": VERSIONS });
    let read = json!({ "do": "history-read", "versions": VERSIONS });
    let rounds = cell.size(ROUNDS, 1);
    for round in 1..=rounds {
        let put_seconds = match system.answer::<Took>(&put, ANSWER_MAX)? {
            Answered::Answer(took) => took.seconds,
            Answered::Skip(reason) => {
                return pending.skip(cell, &["history-put", "history-read"], &reason);
            }
        };
        let read = system.answer::<Took>(&read, ANSWER_MAX)?;
        if let Answered::Answer(took) = &read {
            agree("the versions of the entity", &took.values, &(1..=VERSIONS).collect())?;
        }
        if round == rounds {
            let volume = VERSIONS.to_string();
            pending.tell(cell, &volume, "history-put", Figure::of(VERSIONS as f64 / put_seconds))?;
            match read {
                Answered::Skip(reason) => pending.skip(cell, &["history-read"], &reason)?,
                Answered::Answer(took) => {
                    pending.tell(
                        cell,
                        &volume,
                        "history-read",
                        Figure::of(VERSIONS as f64 / took.seconds),
                    )?;
                }
            }
        }
    }
    let _: Value = system.must(&json!({ "do": "close" }), ANSWER_MAX)?;
    Ok(())
}
