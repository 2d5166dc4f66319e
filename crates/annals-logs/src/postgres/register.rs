//! The register of a log in PostgreSQL: a table of two rows.

use std::sync::atomic::Ordering;

use annals::log::{Register, Slot, check_swap};
use annals::{Error, ErrorKind, Instant, Result};

use super::PostgresLog;
use super::failure::Failure;
use super::lanes::Lane;
use super::seen::column;

fn name(slot: Slot) -> &'static str {
    match slot {
        Slot::Upkeep => "upkeep",
        Slot::Lease => "lease",
    }
}

impl Register for PostgresLog {
    fn get(&self, slot: Slot) -> Result<Option<Vec<u8>>> {
        self.ask(self.deadline, move |shared, until| async move {
            let rows = shared.lanes.look(Lane::Register, &shared.sql.get, &[&name(slot)], until).await;
            let rows = rows.map_err(|failure| failure.into_error())?;
            shared.seen.take_origin(&rows)?;
            // The value may be visible although standbys lack it: a later commit is synced after it.
            if shared.is_swap_in_doubt.load(Ordering::SeqCst) {
                let proved = shared.lanes.execute(Lane::Register, &shared.sql.prove, &[], until).await;
                proved.map_err(|failure| failure.into_error())?;
                shared.is_swap_in_doubt.store(false, Ordering::SeqCst);
            }
            rows.first().map_or(Ok(None), |row| column(row, 2))
        })
    }

    fn swap(&self, slot: Slot, expected: Option<&[u8]>, value: &[u8]) -> Result<bool> {
        check_swap(value)?;
        if self.shared.lanes.is_read_only {
            let text = format!(
                "{}: swap: the log was opened for reading; open it for writing",
                self.shared.lanes.place
            );
            return Err(Error::new(ErrorKind::ReadOnly, text));
        }
        let (expected, value) = (expected.map(<[u8]>::to_vec), value.to_vec());
        self.ask(self.deadline, move |shared, until| async move {
            let (lanes, sql) = (&shared.lanes, &shared.sql);
            let count = match &expected {
                None => lanes.execute(Lane::Register, &sql.set, &[&name(slot), &value], until).await,
                Some(known) => {
                    lanes.execute(Lane::Register, &sql.swap, &[&name(slot), &value, known], until).await
                }
            };
            Ok(count.map_err(|failure| {
                let is_in_doubt = matches!(failure, Failure::Unanswered { .. });
                shared.is_swap_in_doubt.fetch_or(is_in_doubt, Ordering::SeqCst);
                failure.into_error()
            })? == 1)
        })
    }

    fn now(&self) -> Result<Instant> {
        self.ask(self.deadline, |shared, until| async move {
            let rows = shared.lanes.look(Lane::Register, &shared.sql.now, &[], until).await;
            let rows = rows.map_err(|failure| failure.into_error())?;
            let micros = rows.first().map_or(Ok(0), |row| column(row, 0))?;
            Instant::from_micros(micros)
        })
    }
}
